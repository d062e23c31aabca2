"""A run that somebody looks at: read on while it grows, told in small pieces.

The store is all that is read, so a run that is crawled, has ended or was killed looks the same.
Nothing is read unless somebody asks, and nothing twice: an unchanged journal costs a look at
its file, a changed one costs what is new in it. A browser says what it has (`Since`), and is
told the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tres.dashboard.curves import Point
from tres.dashboard.exploration_progress import Exploring
from tres.dashboard.run_counts import Counts, Json, harmless, most, shown_failure, shown_page
from tres.dashboard.run_files import Mark, changes_of, mark_of, without_path
from tres.errors import TresError
from tres.report.conclusion import STOPPED
from tres.report.run_reader import PageRow, RunReader
from tres.store.exploration_log import EXPLORATION
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import JUDGEMENTS, read_judgements
from tres.store.model_versions import MODEL
from tres.store.run_directory import SUMMARY, is_exploring
from tres.store.run_state import run_state

SELDOM = 0.4
"""Seconds for which what was read is new enough."""
SPARK = 40
"""Points of a curve in the list of runs."""
AT_ONCE = 30
"""Pages that a browser gets at once; of a fast crawl it is told the newest."""


@dataclass(frozen=True, slots=True)
class Since:
    """What a browser has: of which edition of the run, of which curve, up to which steps."""

    edition: int = 0
    stride: int = 0
    point: int = 0
    page: int = 0
    failed: int = 0


class FollowedRun:
    """One run; any thread may ask."""

    def __init__(
        self, key: str, directory: Path, clock: Callable[[], float], name: str = ""
    ) -> None:
        self.key = key
        self.name = harmless(name or directory.name)
        self.directory = directory
        self.counts = Counts()
        self.problem = ""
        """Why the run cannot be read, if so."""
        self._clock = clock
        self._lock = Lock()
        self._reader: RunReader | None = None
        self._mark: Mark = ()
        self._edition = 0
        self._last_record = 0
        self._looked = float("-inf")
        self._judged: dict[str, bool] = {}
        self._judged_mark: Mark = ()
        self._exploring = Exploring(directory)

    @property
    def changed(self) -> float:
        """When the run was written to, in seconds of the epoch."""
        names = (JOURNAL, f"{JOURNAL}-wal", EXPLORATION)
        return max(changes_of(*(self.directory / name for name in names)), default=0.0)

    @property
    def edition(self) -> int:
        """Another number for every crawl that was begun in this directory."""
        return self._edition

    @property
    def is_read(self) -> bool:
        """Was it read before?"""
        return self._reader is not None or bool(self.problem)

    def listed(self) -> Json:
        """The run as a line of the list."""
        with self._lock:
            self._refresh()
            curve = self.counts.curve.thinned(SPARK)
            return self._told() | {"spark": [round(point.recent, 3) for point in curve]}

    def told(self, since: Since) -> Json:
        """The run, and of its curve and pages what the browser has not got yet."""
        with self._lock:
            self._refresh()
            news = since if since.edition == self._edition else Since()
            return self._told() | self._more(news) | {"edition": self._edition}

    def page(self, step: int) -> PageRow | None:
        """One of the last pages by its step."""
        with self._lock:
            return self.counts.page(step)

    def sites(self, number: int) -> list[Json]:
        """The sites that gave most relevant pages, and those that gave most of all."""
        with self._lock:
            gave, relevant = self.counts.fetched_of, self.counts.relevant_of
            named = dict.fromkeys([*most(relevant, number), *most(gave, number)])
            return [
                {"site": harmless(site), "fetched": gave[site], "relevant": relevant[site]}
                for site in named
            ]

    def look_again(self) -> None:
        """Something was written just now: whoever asks next shall see it."""
        with self._lock:
            self._looked = float("-inf")

    def _told(self) -> Json:
        state = run_state(self.directory)
        now = {
            "key": self.key,
            "name": self.name,
            "state": str(state.doing),
            "stopped": self._stopped(),
            "changed": self.changed,
            "problem": self.problem,
        }
        known = self._explored() if self._reader is None else about(self._reader)
        return now | self.counts.headline() | known

    def _explored(self) -> Json:
        """A run that has no journal yet."""
        try:
            return self._exploring.told() if is_exploring(self.directory) else {}
        except TresError as problem:
            return {"problem": without_path(problem.message, self.directory)}

    def _more(self, since: Since) -> Json:
        counts = self.counts
        whole = since.stride != counts.curve.stride
        pages = [page for page in counts.last_pages if page.step > since.page][-AT_ONCE:]
        return {
            "curve": {
                "fields": Point._fields,
                "stride": counts.curve.stride,
                "whole": whole,
                "points": counts.curve.after(0 if whole else since.point),
                "tip": counts.tip,
            },
            "histogram": counts.histogram,
            "failures": dict(counts.failures.most_common()),
            "last_failures": self._failures(since.failed),
            "last_pages": [shown_page(page) for page in pages],
            "judgements": self._judgements(),
        }

    def _failures(self, known: int) -> list[Json] | None:
        """The last failures, newest first; None if there are no others than are known."""
        if known and known == self.counts.failures.total():
            return None
        return [shown_failure(row) for row in reversed(self.counts.last_failures)]

    def _judgements(self) -> Json:
        """What was judged; `new` if the newest model cannot have learnt from it yet."""
        steps = {page.url: page.step for page in self.counts.last_pages}
        said = changes_of(self.directory / JUDGEMENTS)
        learnt = changes_of(*self.directory.glob(f"{MODEL}*"))
        return {
            "total": len(self._judged),
            "new": bool(said) and max(said) > max(learnt, default=0.0),
            "steps": {steps[url]: verdict for url, verdict in self._judged.items() if url in steps},
        }

    def _stopped(self) -> str:
        """Why the crawl has ended, if it has, in words."""
        try:
            summary = None if self._reader is None else self._reader.summary
        except TresError:  # damaged: the journal is what counts
            summary = None
        reason = "" if summary is None else str(summary.get("stopped", ""))
        return STOPPED.get(reason, harmless(reason))

    def _refresh(self) -> None:
        """Read what is new, unless that was just done."""
        if self._clock() - self._looked < SELDOM:
            return
        self._looked = self._clock()
        if is_exploring(self.directory):
            if self._reader is not None:  # another crawl was begun in its place
                self._reader, self.counts, self._mark = None, Counts(), ()
                self._edition, self._last_record = 0, 0
            return
        try:
            self._read_judgements()
            self._read_journal()
            self.problem = ""
        except TresError as problem:
            self.problem = without_path(problem.message, self.directory)

    def _read_journal(self) -> None:
        mark = mark_of(self.directory, JOURNAL, f"{JOURNAL}-wal", SUMMARY)
        if mark == self._mark and self._reader is not None:
            return
        with Journal.open(self.directory / JOURNAL) as journal:
            another = mark[0] != next(iter(self._mark), 0) or journal.position < self._last_record
            times = list(journal.times_after(0 if another else self._last_record))
        if another or self._reader is None:
            self._reader, self.counts = RunReader(self.directory), Counts()
            self._edition = int(1000 * self._clock())
        else:
            self._reader.refresh()
        self._mark = mark
        self._last_record = times[-1][0] if times else self._last_record
        self._count(self._reader, {step: seconds for _, step, seconds in times})

    def _count(self, reader: RunReader, times: dict[int, float]) -> None:
        """Count the rows that were read, and let them go."""
        for page in reader.pages:
            self.counts.add_page(page, times.get(page.step, reader.seconds))
        for failure in reader.failures:
            self.counts.add_failure(failure)
        reader.pages.clear()
        reader.failures.clear()

    def _read_judgements(self) -> None:
        mark = mark_of(self.directory, JUDGEMENTS)
        if mark != self._judged_mark:
            self._judged = read_judgements(self.directory)
            self._judged_mark = mark


def about(reader: RunReader) -> Json:
    """What a run is about, and what it may cost."""
    return {
        "topic": harmless(reader.config.name),
        "policy": reader.config.crawl.policy,
        "model": reader.config.training.model,
        "web": harmless(reader.meta.web_name),
        "budget": reader.budget,
        "seconds": reader.seconds,
    }
