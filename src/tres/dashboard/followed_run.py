"""A run that somebody watches in a browser: read as it grows, and sent in small pieces.

Only the store is read, so a run that is running, has ended or was killed looks the same. Nothing is
read unless somebody asks, and nothing twice: an unchanged journal costs a look at its file, a
changed one only its new rows. Where the verdicts on pages have changed, all of them are counted
again. A browser says what it has (`ClientState`) and gets the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tres.dashboard.run_counts import (
    Counts,
    Json,
    Point,
    failure_json,
    harmless,
    largest,
    page_json,
)
from tres.dashboard.run_files import hide_path, modification_times
from tres.errors import TresError
from tres.files.fingerprint import Fingerprint, fingerprint
from tres.report.conclusion import STOPPED
from tres.report.run_reader import PageRow, RunReader
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import JUDGEMENTS
from tres.store.model_versions import MODEL
from tres.store.run_directory import SUMMARY
from tres.store.run_state import run_state
from tres.store.verdicts import verdicts_fingerprint

FRESH = 0.4
"""Seconds for which what was read is new enough."""
RECOUNT_SHARE = 0.1
"""Share of the time that may go into counting all pages again, as for every judgement."""
SPARK = 40
"""Points of a curve in the list of runs."""
AT_ONCE = 30
"""Pages that a browser gets at once; of a fast crawl the newest."""


@dataclass(frozen=True, slots=True)
class ClientState:
    """What a browser has: the edition of the run, the stride of its curve, the last steps, and the
    verdicts by which they were counted.
    """

    edition: int = 0
    stride: int = 0
    point: int = 0
    page: int = 0
    failed: int = 0
    verdicts: int = 0


class FollowedRun:
    """One run; safe to use from any thread."""

    def __init__(
        self, key: str, directory: Path, clock: Callable[[], float], name: str = ""
    ) -> None:
        self.key = key
        self.name = harmless(name or directory.name)
        self.directory = directory
        self.counts = Counts()
        self.problem = ""
        """Why the run cannot be read; empty if it can."""
        self._clock = clock
        self._lock = Lock()
        self._reader: RunReader | None = None
        self._fingerprint: Fingerprint = ()
        self.edition = 0
        """A number that changes with every new crawl in this directory."""
        self.verdicts = 0
        """A number that changes with the verdicts on the pages."""
        self._last_record = 0
        self._looked = float("-inf")
        self._verdicts_fingerprint: Fingerprint = ()
        self._recount_at = float("-inf")

    @property
    def changed(self) -> float:
        """When the run was last written to, in seconds of the epoch."""
        names = (JOURNAL, f"{JOURNAL}-wal")
        return max(modification_times(*(self.directory / name for name in names)), default=0.0)

    @property
    def is_read(self) -> bool:
        """Whether it was read before."""
        return self._reader is not None or bool(self.problem)

    def listed(self) -> Json:
        """Return the run as an entry of the list."""
        with self._lock:
            self._refresh()
            curve = self.counts.curve.thinned(SPARK)
            return self._state() | {"spark": [round(point.recent, 3) for point in curve]}

    def news(self, client: ClientState) -> Json:
        """Return the run, with the parts of its curve and pages that the browser does not have."""
        with self._lock:
            self._refresh()
            has = client if client.edition == self.edition else ClientState()
            read = {"edition": self.edition, "verdicts": self.verdicts}
            return self._state() | self._parts(has) | read

    def page(self, step: int) -> PageRow | None:
        """Return one of the last pages by its step."""
        with self._lock:
            return self.counts.page(step)

    def sites(self, number: int) -> list[Json]:
        """Return the sites with most relevant pages, and those with most pages."""
        with self._lock:
            gave, relevant = self.counts.fetched_of, self.counts.relevant_of
            named = dict.fromkeys([*largest(relevant, number), *largest(gave, number)])
            return [
                {"site": harmless(site), "fetched": gave[site], "relevant": relevant[site]}
                for site in named
            ]

    def invalidate(self) -> None:
        """Read the run again at the next request: something was just written."""
        with self._lock:
            self._looked = float("-inf")

    def _state(self) -> Json:
        state = run_state(self.directory)
        now = {
            "key": self.key,
            "name": self.name,
            "state": str(state.doing),
            "stopped": self._stopped(),
            "changed": self.changed,
            "problem": self.problem,
        }
        known = {} if self._reader is None else about(self._reader)
        return now | self.counts.headline() | known

    def _parts(self, has: ClientState) -> Json:
        counts = self.counts
        rejudged = has.verdicts != self.verdicts and has.edition == self.edition
        whole = rejudged or has.stride != counts.curve.stride
        pages = [page for page in counts.last_pages if page.step > has.page][-AT_ONCE:]
        return {
            "curve": {
                "fields": Point._fields,
                "stride": counts.curve.stride,
                "whole": whole,
                "points": counts.curve.after(0 if whole else has.point),
                "tip": counts.tip,
            },
            "histogram": counts.histogram,
            "failures": dict(counts.failures.most_common()),
            "last_failures": self._failures(has.failed),
            "last_pages": [page_json(page) for page in (counts.last_pages if rejudged else pages)],
            "judgements": self._judgements(),
        }

    def _failures(self, known: int) -> list[Json] | None:
        """The last failures, newest first; None if the browser has them already."""
        if known and known == self.counts.failures.total():
            return None
        return [failure_json(row) for row in reversed(self.counts.last_failures)]

    def _judgements(self) -> Json:
        """The judgements; `new` if the newest model is older than one of them."""
        said = {} if self._reader is None else self._reader.verdicts.judged
        steps = {page.url: page.step for page in self.counts.last_pages}
        judged = modification_times(self.directory / JUDGEMENTS)
        trained = modification_times(*self.directory.glob(f"{MODEL}*"))
        return {
            "total": len(said),
            "new": bool(judged) and max(judged) > max(trained, default=0.0),
            "steps": {steps[url]: page.relevant for url, page in said.items() if url in steps},
        }

    def _stopped(self) -> str:
        """Why the crawl has ended, in words; empty if it has not."""
        try:
            summary = None if self._reader is None else self._reader.summary
        except TresError:  # damaged: only the journal counts
            summary = None
        reason = "" if summary is None else str(summary.get("stopped", ""))
        return STOPPED.get(reason, harmless(reason))

    def _refresh(self) -> None:
        """Read what is new, unless that was just done."""
        if self._clock() - self._looked < FRESH:
            return
        self._looked = self._clock()
        try:
            self._read_journal()
            self.problem = ""
        except TresError as problem:
            self.problem = hide_path(problem.message, self.directory)

    def _read_journal(self) -> None:
        now = fingerprint(self.directory, JOURNAL, f"{JOURNAL}-wal", SUMMARY)
        verdicts, begun = verdicts_fingerprint(self.directory), self._clock()
        rejudged = verdicts != self._verdicts_fingerprint
        if now == self._fingerprint and not rejudged and self._reader is not None:
            return
        with Journal.open(self.directory / JOURNAL) as journal:
            other_file = now[0] != next(iter(self._fingerprint), 0)
            if other_file or journal.position < self._last_record or self._reader is None:
                self.edition = int(1000 * begun)
                reader = self._start(journal, verdicts)
            elif rejudged and begun >= self._recount_at:
                reader = self._start(journal, verdicts)
            else:
                reader = self._reader
                reader.refresh(journal)
            times = list(journal.times_after(self._last_record))
        self._fingerprint = now
        self._last_record = times[-1][0] if times else self._last_record
        self._count(reader, {step: seconds for _, step, seconds in times})
        self._recount_at = max(self._recount_at, begun + (self._clock() - begun) / RECOUNT_SHARE)

    def _start(self, journal: Journal, verdicts: Fingerprint) -> RunReader:
        """Begin to count, with the first page; it is done again when the verdicts change."""
        self._reader, self.counts = RunReader(self.directory, journal), Counts()
        self._last_record, self._verdicts_fingerprint = 0, verdicts
        self.verdicts += 1
        return self._reader

    def _count(self, reader: RunReader, times: dict[int, float]) -> None:
        """Count the rows that were read, and drop them."""
        for page in reader.pages:
            self.counts.add_page(page, times.get(page.step, reader.seconds))
        for failure in reader.failures:
            self.counts.add_failure(failure)
        reader.pages.clear()
        reader.failures.clear()


def about(reader: RunReader) -> Json:
    """Return the topic, the policy, the model and the budget of a run."""
    return {
        "topic": harmless(reader.config.name),
        "policy": reader.config.crawl.policy,
        "model": reader.config.training.model,
        "web": harmless(reader.meta.web_name),
        "budget": reader.budget,
        "seconds": reader.seconds,
    }
