"""A run that is being crawled, live or offline: its directory, journal and recorded session.

    with start_run(config, perceiver, directory) as run:
        ...                                # an engine drives run.recorded
        result = run.finish(reason)

`start_run` opens a new run and `tres.runs.resume_run` an old one. At the end the engine says why
it stopped, and `finish` writes the files that people read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tres import __version__
from tres.crawl.events import Event, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.offline.web import Web
from tres.policies.registry import OwnPolicy
from tres.policies.setup import NOTHING
from tres.relevance.custom_model import CustomModel
from tres.relevance.model import RelevanceModel
from tres.runs.rejudge import rejudge_run
from tres.runs.topic_perceiver import no_seed_error
from tres.runs.topic_session import new_session, perceive_seeds, session_digest
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin, Seeds
from tres.store.model_versions import MODEL
from tres.store.recorded_session import PageArchive, RecordedSession
from tres.store.run_directory import lock_run, prepare, resume_hint, write_config, write_errors
from tres.store.run_results import read_summary, write_keywords, write_result
from tres.store.run_state import at_work
from tres.web.page import FailureKind
from tres.web.percept import Perceiver

Listener = Callable[[CrawlSession, Event], None]
MakeWarc = Callable[[Path], PageArchive]
"""Opens the WARC store of a run directory, new or as it was left."""

NOTHING_DROPPED: Mapping[str, int] = MappingProxyType({})

LIVE = "live"
"""The name of the live Web in a summary."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished crawl."""

    stopped: StopReason
    seconds: float
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that is being crawled: drive `recorded`, judge with `model`, then `finish`."""

    directory: Path
    config: TopicConfig
    recorded: RecordedSession
    model: RelevanceModel
    learns: bool
    """Whether the crawl teaches its model: not one that a program has passed."""

    @property
    def session(self) -> CrawlSession:
        """The session behind `recorded`, to read from."""
        return self.recorded.session

    def finish(
        self,
        stopped: StopReason,
        dropped: Mapping[str, int] = NOTHING_DROPPED,
        web: Web | None = None,
    ) -> Result:
        """Write the result files; raise a `SeedError` if no seed gave a page.

        `dropped` counts the links that rules kept out since the crawl was started or resumed;
        the links that limits kept out are counted over the whole crawl. If the crawl taught its
        model, the newest judges all pages again: those of the live Web as they were kept, or those
        of an offline `web`.
        """
        journal, seconds = self.recorded.journal, self.recorded.seconds
        summary = summarise(self.config, journal.meta, self.session, stopped, seconds)
        summary["dropped"] = dict(sorted((self.session.dropped + Counter(dropped)).items()))
        if isinstance(self.model, CustomModel):
            summary["model"] = self.model.name
        with write_errors(self.directory):
            self.recorded.sync()  # a run that calls itself finished has lost nothing
            tree = self.session.policy.tree_view()
            summary = write_result(self.directory, journal, tree, summary)
        if stopped is StopReason.NO_SEED:
            rows = [*journal.postponed(), *journal.failures()]
            raise no_seed_error({row["url"]: _reason(row) for row in rows if row["is_seed"]})
        if self.learns:
            rejudge_run(self.directory, web)
            summary = read_summary(self.directory)
        return Result(stopped, seconds, summary)


@contextmanager
def start_run(
    config: TopicConfig,
    perceiver: Perceiver,
    directory: Path,
    *,
    offline: PerceivedWeb | None = None,
    overwrite: bool = False,
    warc: MakeWarc | None = None,
    own: OwnPolicy | None = None,
) -> Iterator[OpenRun]:
    """Open a new run in a new directory, over an `offline` web or the live one."""
    seeds = perceive_seeds(config, perceiver)
    known = NOTHING if offline is None else offline.known
    session = new_session(config, seeds, known, own, live=offline is None)
    prepare(directory, overwrite)
    model = perceiver.model
    meta = Meta(
        "" if offline is None else _web_address(offline.web),
        LIVE if offline is None else offline.web.name,
        session.policy.schema.features,
        policy="" if own is None else own.name,
    )
    begin = Begin(config.crawl.pages, model.digest)
    with lock_run(directory), at_work(directory):
        with write_errors(directory, remedy="free some space or name another --run"):
            _write_first_files(directory, config, perceiver)
            journal = Journal.create(directory / JOURNAL, meta, Seeds(seeds), begin)
        with journal, resume_hint(directory), open_archive(warc, directory) as archive:
            recorded = RecordedSession(
                *(session, journal, session_digest(config), archive, config.live.keep),
                requests=config.crawl.requests,
            )
            yield OpenRun(directory, config, recorded, model, perceiver.learns)


def open_archive(
    warc: MakeWarc | None, directory: Path
) -> AbstractContextManager[PageArchive | None]:
    """Open the archive of raw pages of a run, if it keeps one; it is closed in any case."""
    return nullcontext() if warc is None else closing(warc(directory))


def summarise(
    config: TopicConfig, meta: Meta, session: CrawlSession, stopped: StopReason, seconds: float
) -> dict[str, Any]:
    """Return the result in numbers, as `summary.json` holds it."""
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


def _reason(failure: Mapping[str, Any]) -> str:
    """Return why a URL gave no page; if it came and could not be read, the note says why."""
    kind, note = failure["kind"], failure["note"]
    return f"{kind}: {note}" if kind == FailureKind.UNREADABLE and note else str(kind)


def _web_address(web: Web) -> str:
    """Return what opens this web again, from any directory."""
    path = getattr(web, "path", None)
    return web.name if path is None else str(Path(path).absolute())


def _write_first_files(directory: Path, config: TopicConfig, perceiver: Perceiver) -> None:
    """Write what must exist before the first record turns the directory into a run."""
    write_config(directory, config.to_toml())
    perceiver.model.save(directory / MODEL)
    if perceiver.expansion is not None:
        write_keywords(directory, perceiver.expansion)
