"""One run over a web that is here: topic file in, result out.

This is where the parts meet: a web is seen through the topic's perceiver, a session asks a
policy, the replay engine answers, and the events go to a run directory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tres import __version__
from tres.config import TopicConfig
from tres.crawl.events import Event, FetchFailed, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay
from tres.errors import ConfigError, RunError, SeedError
from tres.experiment.auto import exploration_pages
from tres.experiment.topic import seed_urls
from tres.mdp.crawl import Crawl
from tres.policies.base import Policy
from tres.policies.make import PolicySettings, make_policy
from tres.store.history import MODEL, History, Segment
from tres.store.run import RunDirectory
from tres.web.percept import Perceiver
from tres.webs.base import Web

Listener = Callable[[CrawlSession, Event], None]


def web_address(web: Web) -> str:
    """What opens this web again, from any directory."""
    path = getattr(web, "path", None)
    return web.name if path is None else str(Path(path).absolute())


def open_session(config: TopicConfig, seen: PerceivedWeb) -> CrawlSession:
    """A session at its first step. One seed number gives one crawl."""
    crawl = Crawl()
    rng = np.random.default_rng(config.crawl.seed)
    search = partial(seen.search_engine, config.crawl.indexed)
    policy = make_policy(PolicySettings.of(config), crawl, rng, seen.foresee, search)
    return open_session_with(config, crawl, policy, seen.perceiver)


def open_session_with(
    config: TopicConfig, crawl: Crawl, policy: Policy, perceiver: Perceiver
) -> CrawlSession:
    """A session at its first step, for a policy that is made already."""
    seeds = perceiver.seeds(_some_seeds(config))
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
            model = seen.perceiver.model
            model.save(directory / MODEL)
            begin = Segment(1, config.crawl.pages, model.digest)
            History(web_address(seen.web), (begin,)).write(directory)
            if seen.perceiver.expansion is not None:
                run.write_keywords(seen.perceiver.expansion)

            def pass_on(event: Event) -> None:
                if isinstance(event, FetchFailed) and event.is_seed:
                    failed_seeds.append(event)
                run.record(event)
                listener(session, event)

            result = _replayed(config, seen, session, pass_on)
            write_result(run, session, result)
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


def write_result(run: RunDirectory, session: CrawlSession, result: Result) -> None:
    """The tree and, last, the summary."""
    if (view := session.policy.tree_view()) is not None:
        run.write_tree(view)
    run.write_summary(result.summary)


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
        "exploration_pages": exploration_pages(seen.perceiver.model),
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


def _some_seeds(config: TopicConfig) -> list[str]:
    urls = seed_urls(config)
    if not urls:
        raise ConfigError("topic.seeds: a crawl needs a seed; name one there or with --seed-url")
    return urls
