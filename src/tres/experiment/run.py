"""One run over a web that is here: topic file in, result out.

This is where the parts meet: the topic becomes a perceiver, the web is seen through it, a
session asks a policy, the replay engine answers, and the events go to a run directory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tres import __version__
from tres.config import TopicConfig
from tres.crawl.events import Event, FetchFailed, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay
from tres.errors import ConfigError, RunError, SeedError
from tres.mdp.crawl import Crawl
from tres.policies.make import PolicySettings, make_policy
from tres.relevance.base import RelevanceModel
from tres.relevance.store import load_model, quickened
from tres.relevance.train import (
    Examples,
    Start,
    examples_from_files,
    examples_from_labels,
    train_model,
)
from tres.store.run import MODEL, RunDirectory
from tres.topic.expansion import Expansion, expand_keywords
from tres.topic.keywords import KeywordMatcher
from tres.topic.vectors import load_vectors
from tres.web.percept import Perceiver
from tres.web.url import canonical
from tres.webs.base import Web

Listener = Callable[[CrawlSession, Event], None]


def perceive_topic(config: TopicConfig, web: Web) -> Perceiver:
    """The topic as a way of seeing: its relevance model and its keywords."""
    examples = None if config.training.load else topic_examples(config, web)
    expansion = find_keywords(config, examples) if config.topic.expand else None
    found = () if expansion is None else expansion.words
    matcher = KeywordMatcher((*config.topic.keywords, *found), config.topic.phrases)
    model = relevance_model(config, examples, found)
    return Perceiver(model, matcher, config.crawl.site, expansion)


def topic_examples(config: TopicConfig, web: Web | None) -> Examples:
    """The example pages that the topic file asks for, from a web's labels or from files."""
    training = config.training
    if training.positives is not None and training.negatives is not None:
        return examples_from_files(training.positives, training.negatives)
    if web is None:
        raise ConfigError("--web is missing: name the archive whose labels give the examples")
    labelled = ((page.content, page.labels) for page in web.pages())
    return examples_from_labels(
        labelled, training.labels, training.relevant, training.irrelevant, config.crawl.seed
    )


def relevance_model(
    config: TopicConfig, examples: Examples | None, found: Sequence[str] = ()
) -> RelevanceModel:
    """Load the model that the topic file names, or train one from examples."""
    training = config.training
    if training.load is not None:
        model = load_model(training.load)
    else:
        assert examples is not None
        start = topic_start(config, found)
        model = train_model(training.model, examples, config.crawl.seed, start)
    return quickened(model) if training.eight_bit else model


def topic_start(config: TopicConfig, found: Sequence[str] = ()) -> Start:
    """What a model may know of the topic before it sees examples; `found` are new keywords."""
    return Start((*config.topic.keywords, *found), config.topic.phrases, config.topic.vectors)


def find_keywords(config: TopicConfig, examples: Examples | None) -> Expansion:
    """The keywords that expansion finds in the examples of a topic."""
    if examples is None:
        raise ConfigError(
            "topic.expand needs example pages, and training.load brings none; "
            "give labels or positives and negatives, or set topic.expand = false"
        )
    vectors = load_vectors(config.topic.vectors)
    return expand_keywords(config.topic, examples.relevant, examples.irrelevant, vectors)


def open_session(config: TopicConfig, seen: PerceivedWeb) -> CrawlSession:
    """A session at its first step. One seed number gives one crawl."""
    crawl = Crawl()
    rng = np.random.default_rng(config.crawl.seed)
    policy = make_policy(PolicySettings.of(config), crawl, rng, seen.foresee)
    seeds = seen.perceiver.seeds(_seed_urls(config))
    return CrawlSession(crawl, policy, seeds, config.crawl.pages, config.crawl.max_per_site)


@dataclass(frozen=True, slots=True)
class Result:
    """A finished crawl."""

    stopped: StopReason
    seconds: float
    summary: dict[str, Any]


def crawl(
    config: TopicConfig,
    seen: PerceivedWeb,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    started: Callable[[CrawlSession], None] = lambda session: None,
) -> Result:
    """Crawl to the end and write the run directory.

    If no seed gives a page the directory says so, and `SeedError` is raised.
    """
    session = open_session(config, seen)
    started(session)
    failed_seeds: list[FetchFailed] = []
    try:
        with RunDirectory(directory, session.policy.schema.features, overwrite) as run:
            run.write_config(config.to_toml())
            seen.perceiver.model.save(directory / MODEL)
            if seen.perceiver.expansion is not None:
                run.write_keywords(seen.perceiver.expansion)

            def pass_on(event: Event) -> None:
                if isinstance(event, FetchFailed) and event.is_seed:
                    failed_seeds.append(event)
                run.record(event)
                listener(session, event)

            result = _replayed(config, seen, session, pass_on)
            if (view := session.policy.tree_view()) is not None:
                run.write_tree(view)
            run.write_summary(result.summary)
    except OSError as error:
        raise RunError(
            f"{directory}: cannot be written ({error.strerror}); "
            "free some space or name another --run"
        ) from error
    _refuse_no_seed(result, failed_seeds)
    return result


def _replayed(
    config: TopicConfig,
    seen: PerceivedWeb,
    session: CrawlSession,
    pass_on: Callable[[Event], None],
) -> Result:
    begin = time.perf_counter()
    stopped = replay(session, seen, config.crawl.in_flight, pass_on)
    seconds = time.perf_counter() - begin
    return Result(stopped, seconds, summarise(config, seen, session, stopped, seconds))


def _refuse_no_seed(result: Result, failed: list[FetchFailed]) -> None:
    if result.stopped is StopReason.NO_SEED:
        raise SeedError(
            f"none of the {len(failed)} seeds gave a page; name seeds that this web holds",
            details=[f"seed {seed.url}: {seed.kind}" for seed in failed],
        )


def summarise(
    config: TopicConfig,
    seen: PerceivedWeb,
    session: CrawlSession,
    stopped: StopReason,
    seconds: float,
) -> dict[str, Any]:
    """The result in numbers, as `summary.json` holds it."""
    tree = session.policy.tree
    return {
        "name": config.name,
        "version": __version__,
        "web": seen.web.name,
        "policy": config.crawl.policy,
        "features": config.crawl.features,
        "model": config.training.model,
        "max_per_site": str(config.crawl.max_per_site),
        "in_flight": config.crawl.in_flight,
        "seed": config.crawl.seed,
        "budget": config.crawl.pages,
        "pages": session.steps,
        "relevant": session.relevant,
        "harvest_rate": session.harvest_rate,
        "relevant_sites": session.relevant_sites,
        "failures": {str(kind): count for kind, count in sorted(session.failures.items())},
        "stopped": str(stopped),
        "frontier": len(session.policy),
        "leaves": 0 if tree is None else tree.leaves,
        "seconds": round(seconds, 3),
    }


def _seed_urls(config: TopicConfig) -> list[str]:
    urls = []
    for written in config.topic.seeds:
        url = canonical(written)
        if url is None:
            raise ConfigError(f"topic.seeds: {written!r} is not a web address; write http://...")
        urls.append(url)
    if not urls:
        raise ConfigError("topic.seeds: a crawl needs a seed; name one there or with --seed-url")
    return urls
