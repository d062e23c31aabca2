"""Taking up a run again: repeat it from its first step, prove it, and go on.

No snapshot is kept. The crawl is a fold over what it was told (`history.json`) and what the web
answered; the same fold gives the same frontier, tree, networks and random state. While it is
repeated every row is compared with `pages.csv`; a single difference ends it with a `RunError`
and changes nothing. Repeating costs what the crawl had cost, without the network.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tres.config import TopicConfig, load_topic
from tres.crawl.events import Event, Stepped, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay
from tres.engines.timeline import Phase, Timeline
from tres.errors import RunError
from tres.experiment.run import Listener, Result, open_session, summarise, write_result
from tres.experiment.topic import perceive_topic
from tres.relevance.store import load_model
from tres.store.history import MODEL, History, models_of
from tres.store.run import PAGES, SUMMARY, RunDirectory, config_of, read_pages
from tres.store.table import differs
from tres.webs.base import Web


def resumable(run: Path, pages: int | None) -> tuple[TopicConfig, History, int]:
    """The configuration and history with which a run goes on, and the pages that it has."""
    config = load_topic(config_of(run))
    history = History.read(run)
    recorded = len(read_pages(run))
    if recorded == 0:
        raise RunError(f"{run}: holds no page to go on from; run the crawl again")
    config = config.override(pages=pages)
    if config.crawl.pages <= recorded:
        raise RunError(
            f"{run}: has fetched {recorded:,} of {config.crawl.pages:,} pages; "
            f"to go on, give more than {recorded:,} with --pages"
        )
    newest = load_model(run / MODEL).digest
    return config, history.from_now(recorded + 1, config.crawl.pages, newest), recorded


def resume(
    run: Path,
    web: Web,
    pages: int | None = None,
    listener: Listener = lambda session, event: None,
    started: Callable[[CrawlSession], None] = lambda session: None,
) -> Result:
    """Go on with a run until its budget, which `pages` may raise."""
    config, history, recorded = resumable(run, pages)
    phases = _phases(run, config, history, web)
    session = open_session(config.override(pages=phases[0].pages), phases[0].seen)
    started(session)
    try:
        with RunDirectory(run, session.policy.schema.features, resume=True) as directory:
            repeated = _Repeated(session, Timeline(session, phases), directory, recorded)
            result = repeated.go_on(config, history, phases[0].seen, listener)
            write_result(directory, session, result)
    except OSError as error:
        raise RunError(
            f"{run}: cannot be written ({error.strerror}); free some space and try again"
        ) from error
    return result


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A session that walks through what was recorded, and then beyond it."""

    session: CrawlSession
    timeline: Timeline
    directory: RunDirectory
    recorded: int

    def go_on(
        self, config: TopicConfig, history: History, seen: PerceivedWeb, listener: Listener
    ) -> Result:
        def pass_on(event: Event) -> None:
            if isinstance(event, Stepped) and event.step == self.recorded + 1:
                _commit(self.directory, config, history)
            self.directory.record(event)
            self.timeline.keep_up()
            listener(self.session, event)

        begin = time.perf_counter()
        stopped = replay(self.session, self.timeline, config.crawl.in_flight, pass_on)
        seconds = time.perf_counter() - begin
        _refuse_unmet(self.directory, stopped, self.session.steps)
        if self.session.steps == self.recorded:  # there was nothing more to be had
            _commit(self.directory, config, history)
        return Result(stopped, seconds, summarise(config, seen, self.session, stopped, seconds))


def _refuse_unmet(directory: RunDirectory, stopped: StopReason, steps: int) -> None:
    """A crawl that ended before it was where it had been has nothing to add."""
    if directory.recorded and stopped is StopReason.INTERRUPTED:
        raise RunError(
            f"{directory.path}: stopped while it was being repeated, so nothing has changed; "
            "resume it again"
        )
    if directory.recorded:
        raise differs(directory.path / PAGES, steps + 2)


def _phases(run: Path, config: TopicConfig, history: History, web: Web) -> list[Phase]:
    """One way of seeing per model, shared by all segments that name it."""
    seen = {
        digest: PerceivedWeb(web, perceive_topic(config, web, model))
        for digest, model in models_of(run, history).items()
    }
    return [Phase(part.from_step, part.pages, seen[part.model]) for part in history.segments]


def _commit(directory: RunDirectory, config: TopicConfig, history: History) -> None:
    """All that was recorded has been met again: from here on the run changes."""
    (directory.path / SUMMARY).unlink(missing_ok=True)
    history.write(directory.path)
    directory.write_config(config.to_toml())
