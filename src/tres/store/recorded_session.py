"""A session that writes every choice and every outcome to the journal before it counts.

An engine drives it like any session. What `next` has chosen is in the journal before the engine
gets it, and so is the outcome of every URL before its events are returned. Therefore a crawl that
ends at any moment, for whatever reason, goes on by folding its journal
(`tres.store.session_rebuild`):

- URLs that were requested and have no outcome are requested again, before anything new; a page
  on which the crawl has crashed has an outcome, a failure;
- no URL that has an outcome is requested again, nor any of a site that is blocked.

A demand that was answered with `Wait` or `Done` is not kept: it changes nothing. If a page's
exchange is kept as WARC, it is written first and the journal says where it ends: whatever is
behind the last end in the journal was never counted, and is cut off. Both are synced every second
or so, so that a power cut costs no more than that (`tres.store.session_rebuild`).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Protocol

from tres.crawl.events import Demand, Done, Event, Fetch, FetchFailed, Stepped, StopReason, Wait
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture
from tres.engines.protocols import Exchange, Fetched
from tres.errors import RunError
from tres.relevance.positive_unlabelled import LAST_REFIT
from tres.settings.sections import KeepKind
from tres.store.journal import Journal
from tres.store.journal_records import (
    Begin,
    Blocked,
    Demanded,
    Entry,
    PageText,
    Received,
    fits,
)
from tres.store.run_directory import write_errors
from tres.store.snapshot_files import (
    Snapshot,
    SnapshotWarning,
    is_due,
    write_snapshot,
)
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept

SYNC_EVERY = 1.0
"""Seconds between two syncs: what a power cut may cost."""
SYNC_SHARE = 0.05
"""Share of the time that syncing may take; on a slow disk the syncs come less often."""


class PageArchive(Protocol):
    """The WARC files of a run, which grow with the crawl."""

    def is_whole(self, start: int, end: int) -> bool:
        """Whether the exchange between two offsets is still intact, byte for byte."""

    def surplus(self, end: int) -> int:
        """Return the number of whole records after an offset."""

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        """Add an exchange, to be found by these URLs as well; return the offset of the end."""

    def truncate(self, end: int) -> None:
        """Delete everything after an offset."""

    def sync(self) -> None:
        """Sync everything to disk."""

    def close(self) -> None:
        """Close the files."""


class RecordedSession:
    """A `LiveSession`: a crawl session whose every outcome is in the journal before it counts."""

    def __init__(
        self,
        session: CrawlSession,
        journal: Journal,
        config: str,
        warc: PageArchive | None = None,
        keep: KeepKind = "pages",
        snapshot: int = 0,
        requests: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.journal = journal
        self._run = journal.path.parent
        self._config = config
        self._warc = warc
        self._keep = keep
        self._last_snapshot = snapshot
        self._requests = requests
        self._unanswered = session.awaited
        self._clock = clock
        self._began = clock() - journal.seconds()
        self._next_sync = journal.seconds() + SYNC_EVERY
        self._paused_at: float | None = None

    @property
    def in_flight(self) -> int:
        """Requests without an outcome, except those still to be repeated."""
        return self.session.in_flight - len(self._unanswered)

    @property
    def seconds(self) -> float:
        """How long the crawl has taken so far, without pauses and the time between two starts."""
        now = self._clock() if self._paused_at is None else self._paused_at
        return now - self._began

    def pause(self, paused: bool) -> None:
        """Stop the clock for a pause, or start it again; the driver stops asking for URLs."""
        if paused:
            self._paused_at = self._clock()
            with write_errors(self._run):
                self.sync()
        elif self._paused_at is not None:
            self._began += self._clock() - self._paused_at
            self._paused_at = None

    @property
    def interrupted(self) -> bool:
        """Whether `interrupt` was called."""
        return self.session.interrupted

    def interrupt(self) -> None:
        """Choose nothing more; fetches in flight may still return."""
        self.session.interrupt()

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Return up to `k` URLs to fetch: first those to repeat, then those the session chooses."""
        if self.interrupted:
            return Wait() if self.in_flight else Done(StopReason.INTERRUPTED)
        sites = tuple(waiting)
        again = self._take_unanswered(k, sites)
        if again and len(again) >= k:
            return Fetch(again)
        known = tuple(self.session.site_ids(sites))  # the others do not matter
        room = min(k - len(again), self._requests_left)
        demand = self.session.next(room, sites)
        if isinstance(demand, Fetch):
            with write_errors(self._run):
                self._append(Demanded(room, known, demand.urls))
            return Fetch((*again, *demand.urls))
        if again:
            return Fetch(again)
        spent = isinstance(demand, Wait) and self._requests_left == 0
        return Done(StopReason.REQUESTS) if spent and not self.session.in_flight else demand

    @property
    def _requests_left(self) -> int:
        """Requests left in the budget, which may be raised, so it is not part of the session."""
        return max(0, self._requests - self.session.asked) if self._requests else sys.maxsize

    def receive(
        self, url: str, outcome: Percept | Failed, fetched: Fetched | None = None
    ) -> list[Event]:
        """Record the outcome of a URL that `next` returned, and pass it to the session.

        An outcome that raises an error ends the crawl, but is kept as a failure: otherwise every
        crawl that goes on would request the URL again, and end on it too.
        """
        is_seed = self.session.clicks(url) == 0
        try:
            events = self._keep_outcome(storable(Received(url, outcome)), fetched)
        except RunError:  # it cannot be written: nothing is wrong with the outcome
            raise
        except Exception:
            self._give_up(url, is_seed)
            raise
        with write_errors(self._run):
            self._sync_if_due()
            self._snapshot_if_due()
        return events

    def _keep_outcome(self, entry: Received, fetched: Fetched | None) -> list[Event]:
        events = self.session.receive(entry.asked, entry.outcome)
        with write_errors(self._run):
            self._keep_text(entry.outcome)
            end = self._archived(entry.asked, events, fetched)
            self.journal.append(entry, events, fetched, end, self.seconds)
        return events

    def _keep_text(self, outcome: Percept | Failed) -> None:
        """Keep what a page says, as long as models will learn from it."""
        if isinstance(outcome, Percept) and outcome.content and self.session.steps <= LAST_REFIT:
            self._append(PageText(outcome.url, outcome.content))

    def _give_up(self, url: str, is_seed: bool) -> None:
        """Record a failure; the session is half-way between two states, and useless now."""
        self.session.interrupt()
        failed = Failed(url, FailureKind.UNREADABLE)
        events = [FetchFailed(url, failed.kind, is_seed)]
        with write_errors(self._run):
            self.journal.append(Received(url, failed), events, seconds=self.seconds)

    def begin(self, pages: int, model: str) -> None:
        """Begin a segment with another budget or another model."""
        with write_errors(self._run):
            self._append(Begin(pages, model))
        self.session.pages = pages

    def block(self, site: str) -> list[Event]:
        """Fetch nothing from a site from now on."""
        events = self.session.block(site)
        if events:
            with write_errors(self._run):
                self._append(Blocked(site))
        return events + self.refuse_blocked()

    def refuse_blocked(self) -> list[Event]:
        """Fail requests that were to be repeated, but go to blocked sites."""
        refused = [url for url, site in self._unanswered.items() if self.session.is_blocked(site)]
        events: list[Event] = []
        for url in refused:
            del self._unanswered[url]
            events += self.receive(url, Failed(url, FailureKind.SITE_BLOCKED))
        return events

    def _append(self, entry: Entry) -> None:
        self.journal.append(entry, seconds=self.seconds)

    def _take_unanswered(self, k: int, waiting: tuple[str, ...]) -> tuple[str, ...]:
        ready = [url for url, site in self._unanswered.items() if site not in waiting][: max(k, 0)]
        for url in ready:
            del self._unanswered[url]
        return tuple(ready)

    def _archived(self, asked: str, events: list[Event], fetched: Fetched | None) -> int | None:
        step = next((event for event in events if isinstance(event, Stepped)), None)
        if self._warc is None or step is None or fetched is None or fetched.exchange is None:
            return None
        if self._keep == "nothing" or (self._keep == "relevant" and not step.relevant):
            return None
        return self._warc.append(fetched.exchange, asked, step.url)

    def _sync_if_due(self) -> None:
        now = self.seconds
        if now >= self._next_sync or self._paused_at is not None:  # the clock stands in a pause
            self.sync()
            end = self.seconds
            self._next_sync = end + max(SYNC_EVERY, (end - now) / SYNC_SHARE)

    def sync(self) -> None:
        """Sync the archive and the journal to disk."""
        if self._warc is not None:
            self._warc.sync()
        self.journal.sync()

    def _snapshot_if_due(self) -> None:
        session = self.session
        if session.interrupted or not is_due(session.steps, self._last_snapshot):
            return
        if self.journal.meta.policy:  # only its program knows the state of such a policy
            return
        try:
            state = capture(session)
        except TypeError as problem:
            if type(session.policy).__module__.startswith("tres."):
                raise
            self._last_snapshot = session.steps
            warnings.warn(f"no snapshot was made: {problem}", SnapshotWarning, stacklevel=2)
            return
        self.sync()  # or a power cut may leave a snapshot of records that it has taken away
        position = self.journal.position
        link = self.journal.link(position)
        write_snapshot(self._run, Snapshot(position, link, session.steps, self._config, state))
        self._last_snapshot = session.steps


def storable(entry: Received) -> Received:
    """Return the entry, or a failure if it is too large: no page may end a crawl for good."""
    if fits(entry):
        return entry
    return Received(entry.asked, Failed(entry.asked, FailureKind.TOO_LARGE))
