"""Reading a run, running, finished or killed: its pages and failures as typed rows.

A reader reads only what is new, so that it can follow a running crawl:

    reader = RunReader(run)
    while reader.refresh():
        ...                      # reader.pages and reader.failures have grown

What is relevant follows `tres.store.verdicts`: what people and newer models say of a page counts
as soon as the run is refreshed.

The journal is open only during a refresh. A crawl that ends merges its write-ahead log into the
journal, which it cannot do while somebody has it open.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tres.crawl.page_record import FIELDS, PageRecord
from tres.files.fingerprint import Fingerprint
from tres.policies.policy import NEUTRAL, PolicyInfo
from tres.policies.registry import policy_info
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin
from tres.store.journal_tables import Row
from tres.store.run_directory import SUMMARY, config_of
from tres.store.run_results import read_summary
from tres.store.verdicts import MODEL, Verdicts, read_verdicts, verdicts_fingerprint


class Rival(NamedTuple):
    """Another candidate when a page was chosen, and its value then."""

    url: str
    q: float


class PageRow(PageRecord, frozen=True, kw_only=True):
    """One step of a run: a page, what it earned, why it was chosen, how it was fetched.

    `q` and `leaf` are None where the policy has none or chose at random; what a crawl over an
    archive does not know (`at`, `seconds`, `status`, `size`) is None, too. `relevance` and
    `relevant` are what the page is now, by the word of `judged_by`: a person, a teacher, a model.
    """

    relevant: bool = msgspec.field(name="relevant")
    reward: bool
    """Whether it was relevant to the crawl, which has learnt from that."""
    first_relevance: float
    """The model's probability when it was fetched."""
    judged_by: str = MODEL
    features: tuple[float, ...]
    rivals_json: str
    record: int = 0
    """The number of its record in the journal."""

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """The best other candidates, best first."""
        return tuple(Rival(url, q) for url, q in json.loads(self.rivals_json))


class FailureRow(msgspec.Struct, frozen=True):
    """A URL that gave no page, and why."""

    url: str
    kind: str
    is_seed: bool
    at: float | None
    seconds: float | None
    status: int | None
    note: str
    record: int = 0


class RunReader:
    """The rows of a run; `refresh` reads the new ones."""

    def __init__(self, run: Path, journal: Journal | None = None) -> None:
        self.run = run
        self.config: TopicConfig = load_topic(config_of(run))
        self.pages: list[PageRow] = []
        self.failures: list[FailureRow] = []
        self.segments: list[Begin] = []
        self.verdicts = Verdicts({})
        self._verdicts_fingerprint: Fingerprint = ()
        self.seconds = 0.0
        """How long the crawl has run, all segments together."""
        self._last_page = self._last_failure = 0  # records: nothing written meanwhile is lost
        self.meta: Meta
        self.refresh(journal)

    def refresh(self, journal: Journal | None = None) -> int:
        """Read what is new, from `journal` if it is open; return how many pages and failures."""
        if journal is None:
            with Journal.open(self.run / JOURNAL) as opened:
                return self.refresh(opened)
        before = len(self.pages) + len(self.failures)
        self.meta = journal.meta
        self._read_verdicts(journal)
        for seq, row in journal.pages_after(self._last_page):
            self.pages.append(self._judged(_page(seq, row, self.meta.features)))
            self._last_page = seq
        for seq, row in journal.failures_after(self._last_failure):
            self.failures.append(_failure(seq, row))
            self._last_failure = seq
        self.segments = journal.segments()
        self.seconds = journal.seconds()
        return len(self.pages) + len(self.failures) - before

    def _read_verdicts(self, journal: Journal) -> None:
        """Read what was said of pages since they were fetched, if it has changed."""
        if (now := verdicts_fingerprint(self.run)) != self._verdicts_fingerprint:
            self.verdicts = read_verdicts(self.run, journal)
            self._verdicts_fingerprint = now
            self.pages[:] = map(self._judged, self.pages)

    def _judged(self, page: PageRow) -> PageRow:
        verdict = self.verdicts.of(page.step, page.url, page.first_relevance, page.reward)
        if verdict == (page.relevance, page.relevant, page.judged_by):
            return page
        return msgspec.structs.replace(page, **verdict._asdict())

    @property
    def name(self) -> str:
        """The name of the directory."""
        return self.run.absolute().name

    @property
    def budget(self) -> int:
        """Pages that the crawl may fetch."""
        return self.segments[-1].pages

    @property
    def policy(self) -> str:
        """The name of the policy, from the settings or of a program's own policy."""
        return self.meta.policy or self.config.crawl.policy

    @property
    def policy_info(self) -> PolicyInfo:
        """What the policy declares about itself; neutral if a program passed it as an object."""
        return NEUTRAL if self.meta.policy else policy_info(self.config.crawl.policy)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features, in the order of `PageRow.features`."""
        return self.meta.features

    @property
    def relevant(self) -> int:
        """Relevant pages."""
        return sum(page.relevant for page in self.pages)

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / len(self.pages) if self.pages else 0.0

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary, if the crawl has ended in good order."""
        return read_summary(self.run) if (self.run / SUMMARY).exists() else None

    @property
    def judges(self) -> Counter[str]:
        """How many pages a person, a teacher and a model have judged."""
        return Counter(page.judged_by for page in self.pages)

    def page(self, url: str) -> PageRow | None:
        """Return the page with this URL, its own or the requested one."""
        found = (page for page in self.pages if url in (page.url, page.asked))
        return next(found, None)


@contextmanager
def open_run(run: Path) -> Iterator[tuple[RunReader, Journal]]:
    """Open the journal of a run and read its rows from it; `RunError` if it is not a run."""
    config_of(run)
    with Journal.open(run / JOURNAL) as journal:
        yield RunReader(run, journal), journal


_COLUMNS = [(field.name, field.encode_name) for field in FIELDS.values()]
_FLAGS = [field.name for field in FIELDS.values() if field.type is bool]
_TEXTS = [field.name for field in FIELDS.values() if field.type is str]


def _page(seq: int, row: Row, features: tuple[str, ...]) -> PageRow:
    known = {name: row[column] for name, column in _COLUMNS}
    for name in _FLAGS:
        known[name] = bool(known[name])
    for name in _TEXTS:
        known[name] = known[name] or ""
    seen = tuple(row[name] for name in features)
    then = {"reward": known["relevant"], "first_relevance": known["relevance"]}
    return PageRow(**known, **then, features=seen, rivals_json=row["rivals"], record=seq)


def _failure(seq: int, row: Row) -> FailureRow:
    same = {name: row[name] for name in ("url", "kind", "at", "seconds", "status")}
    return FailureRow(**same, is_seed=bool(row["is_seed"]), note=row["note"] or "", record=seq)
