"""One run: topic file in, result out, whoever fetches.

`start_run` opens a run that is to be crawled: its directory, its journal, and a session that
writes into it. Whoever drives that session (the replay engine here, Scrapy for the live Web)
tells at the end why it stopped, and `finish` leaves the files that people read:

    with start_run(config, perceiver, directory) as run:
        ...                                # drive run.crawling
        result = run.finish(reason)

`crawl` does this over a web that is here; `tres.runs.resuming` opens a run again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tres import __version__
from tres.crawl.endorsement import Endorsements
from tres.crawl.events import Done, Event, StopReason
from tres.crawl.frontier_limits import LinkLimits
from tres.crawl.session import CrawlSession
from tres.engines.replay import Judged, PerceivedWeb, drained, replaying
from tres.errors import ConfigError, ModelError
from tres.mdp.state import CrawlState
from tres.offline.web import Web
from tres.policies.registry import NOTHING, OfflineKnowledge, OwnPolicy, PolicySettings, make_policy
from tres.relevance.custom_model import CustomModel
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model
from tres.runs.no_labels import exploration_pages, no_seed
from tres.runs.topic_perceiver import seed_urls
from tres.settings.sections import CrawlSection
from tres.settings.topic_file import TopicConfig
from tres.store.guessed_examples import write_guesses
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_header import Meta
from tres.store.model_versions import MODEL
from tres.store.recorded_session import RecordedSession, Warc, said_how_to_go_on, writing
from tres.store.records import Begin, Seeds
from tres.store.run_controller import RunController, Switch, Switched
from tres.store.run_directory import (
    claimed,
    prepare,
    write_config,
    write_keywords,
    write_result,
)
from tres.store.run_state import at_work
from tres.web.percept import LinkPercepts, Perceiver

Listener = Callable[[CrawlSession, Event], None]
MakeWarc = Callable[[Path], Warc]
"""Opens the archive of raw pages in a run directory, new or as it was left."""

NOTHING_DROPPED: Mapping[str, int] = MappingProxyType({})

LIVE = "live"
"""How a summary calls the Web itself."""


def new_session(
    config: TopicConfig,
    seeds: LinkPercepts,
    known: OfflineKnowledge = NOTHING,
    own: OwnPolicy | None = None,
    live: bool = False,
) -> CrawlSession:
    """A session at its first step. One seed number gives one crawl.

    A `live` one holds sites back that only themselves cite, and learns from links that give no
    page, as they cost a request; comparisons and archives do not.
    """
    crawl = CrawlState()
    rng = np.random.default_rng(config.crawl.seed)
    if own is None:
        priced = config if live else config.override(dead_links=0.0)
        policy = make_policy(PolicySettings.of(priced), crawl, rng, known)
    else:
        policy = own.make(crawl, rng)
    limits = config.crawl.pages, config.crawl.max_per_site, config.live.max_clicks
    endorsed = Endorsements(config.live.self_cited if live else 1.0)
    return CrawlSession(crawl, policy, seeds, *limits, link_limits(config.crawl), endorsed)


def link_limits(section: CrawlSection) -> LinkLimits:
    """How many links may wait, as the topic file says."""
    return LinkLimits(section.links_per_page, section.frontier_per_site, section.frontier_size)


def open_session(config: TopicConfig, seen: PerceivedWeb) -> CrawlSession:
    """A session of which nothing is kept, for comparisons."""
    return new_session(config, perceived_seeds(config, seen.perceiver), seen.known)


def session_digest(config: TopicConfig) -> str:
    """Identity of all that shapes a session: budget and concurrency may change in a crawl."""
    same = config.override(pages=1, in_flight=1, requests=0)
    lines = [*same.crawl.to_toml(), *same.tree.to_toml(), *same.agent.to_toml()]
    lines += [str(config.live.max_clicks), str(config.live.self_cited)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Result:
    """A finished crawl."""

    stopped: StopReason
    seconds: float
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that is being crawled: drive `crawling`, judge with `model`, then `finish`."""

    directory: Path
    config: TopicConfig
    crawling: RecordedSession
    model: RelevanceModel

    @property
    def session(self) -> CrawlSession:
        """The session behind `crawling`, to look at."""
        return self.crawling.session

    def finish(self, stopped: StopReason, dropped: Mapping[str, int] = NOTHING_DROPPED) -> Result:
        """Write what people read; if no seed gave a page, say so with a `SeedError`.

        `dropped` counts the links that rules kept out, by rule, since the crawl was taken up; what
        the limits on links kept out is counted over the whole crawl.
        """
        journal, seconds = self.crawling.journal, self.crawling.seconds
        summary = summarise(self.config, journal.meta, self.session, stopped, seconds)
        summary["dropped"] = dict(sorted((self.session.dropped + Counter(dropped)).items()))
        if isinstance(self.model, CustomModel):
            summary["model"] = self.model.name
        with writing(self.directory):
            self.crawling.sync()  # a run that calls itself finished has lost nothing
            write_result(self.directory, journal, self.session.policy.tree_view(), summary)
        if stopped is StopReason.NO_SEED:
            rows = [*journal.postponed(), *journal.failures()]
            raise no_seed({row["url"]: row["kind"] for row in rows if row["is_seed"]})
        return Result(stopped, seconds, summary)


@contextmanager
def archived(warc: MakeWarc | None, directory: Path) -> Iterator[Warc | None]:
    """The archive of raw pages of a run, if one is kept; closed however the crawl ends."""
    archive = None if warc is None else warc(directory)
    try:
        yield archive
    finally:
        if archive is not None:
            archive.close()


@contextmanager
def start_run(
    config: TopicConfig,
    perceiver: Perceiver,
    directory: Path,
    *,
    web: str = "",
    web_name: str = LIVE,
    overwrite: bool = False,
    known: OfflineKnowledge = NOTHING,
    warc: MakeWarc | None = None,
    own: OwnPolicy | None = None,
    is_ours: bool = False,
) -> Iterator[OpenRun]:
    """A new run in a new directory; `web` opens its web again, and is empty for the live Web.

    The directory is prepared and claimed here, unless it `is_ours` already.
    """
    seeds = perceived_seeds(config, perceiver)
    session = new_session(config, seeds, known, own, live=not web)
    if not is_ours:
        prepare(directory, overwrite)
    model = perceiver.model
    meta = Meta(
        web,
        web_name,
        session.policy.schema.features,
        exploration_pages(model),
        policy="" if own is None else own.name,
    )
    begin = Begin(config.crawl.pages, model.digest)
    with nullcontext() if is_ours else claimed(directory), at_work(directory):
        with writing(directory, remedy="free some space or name another --run"):
            _write_beginning(directory, config, perceiver)
            journal = Journal.create(directory / JOURNAL, meta, Seeds(seeds), begin)
        with journal, said_how_to_go_on(directory), archived(warc, directory) as archive:
            digest = session_digest(config)
            recorded = RecordedSession(
                *(session, journal, digest, archive, config.live.keep),
                requests=config.crawl.requests,
            )
            yield OpenRun(directory, config, recorded, model)


def crawl(
    config: TopicConfig,
    seen: PerceivedWeb,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    started: Callable[[CrawlSession], None] = lambda session: None,
    own: OwnPolicy | None = None,
) -> Result:
    """Crawl a web that is here to the end and write the run directory.

    If no seed gives a page the directory says so, and `SeedError` is raised.
    """
    with start_run_over(config, seen, directory, overwrite, own) as run:
        started(run.session)
        return replayed(run, seen, listener)


def start_run_over(
    config: TopicConfig,
    seen: PerceivedWeb,
    directory: Path,
    overwrite: bool = False,
    own: OwnPolicy | None = None,
) -> AbstractContextManager[OpenRun]:
    """A new run over a web that is here."""
    return start_run(
        config,
        seen.perceiver,
        directory,
        web=_web_address(seen.web),
        web_name=seen.web.name,
        overwrite=overwrite,
        known=seen.known,
        own=own,
    )


def replayed(run: OpenRun, seen: PerceivedWeb, listener: Listener) -> Result:
    """Drive an open run to its end over a web that is here."""

    def tell(event: Event) -> None:
        listener(run.session, event)

    return run.finish(drained(events_of(run, seen, tell), tell))


def events_of(
    run: OpenRun, seen: PerceivedWeb, tell: Callable[[Event], None] = lambda event: None
) -> Iterator[Event | Done]:
    """An open run over a web that is here, event by event; what comes of orders is told apart."""
    judged = Judged(seen)
    controller = RunController(run.crawling, _judge_switch(judged), tell)
    return replaying(run.crawling, judged, run.config.crawl.in_flight, controller)


def _judge_switch(judged: Judged) -> Switch:
    """Over a web that is here another model takes over at once."""

    def switch(place: Path, switched: Switched) -> None:
        try:
            judged.judge_by(load_model(place))
        except ModelError as problem:
            return switched(problem)
        return switched(None)

    return switch


def summarise(
    config: TopicConfig,
    meta: Meta,
    session: CrawlSession,
    stopped: StopReason,
    seconds: float,
) -> dict[str, Any]:
    """The result in numbers, as `summary.json` holds it."""
    tree = session.policy.tree
    return {
        "name": config.name,
        "version": __version__,
        "web": meta.web_name,
        "policy": meta.policy or config.crawl.policy,
        "features": session.policy.schema.name,
        "model": config.training.model,
        "max_per_site": str(config.crawl.max_per_site),
        "in_flight": config.crawl.in_flight,
        "seed": config.crawl.seed,
        "budget": session.pages,
        "exploration_pages": meta.exploration_pages,
        "pages": session.steps,
        "requests": session.asked,
        "relevant": session.relevant,
        "harvest_rate": session.harvest_rate,
        "relevant_sites": session.relevant_sites,
        "failures": {str(kind): count for kind, count in sorted(session.failures.items())},
        "held": session.held_sites,
        "stopped": str(stopped),
        "frontier": len(session.policy),
        "leaves": 0 if tree is None else tree.leaves,
        "seconds": round(seconds, 3),
    }


def perceived_seeds(config: TopicConfig, perceiver: Perceiver) -> LinkPercepts:
    """The seeds of a topic file as links; a crawl needs one at least."""
    urls = seed_urls(config)
    if not urls:
        raise ConfigError("topic.seeds: a crawl needs a seed; name one there or with --seed-url")
    return perceiver.seeds(urls)


def _web_address(web: Web) -> str:
    """What opens this web again, from any directory."""
    path = getattr(web, "path", None)
    return web.name if path is None else str(Path(path).absolute())


def _write_beginning(directory: Path, config: TopicConfig, perceiver: Perceiver) -> None:
    """All that stands before the first record, which makes it a run."""
    write_config(directory, config.to_toml())
    perceiver.model.save(directory / MODEL)
    if perceiver.guesses is not None:
        write_guesses(directory, perceiver.guesses)
    if perceiver.expansion is not None:
        write_keywords(directory, perceiver.expansion)
