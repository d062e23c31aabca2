"""A session whose every word is written down before it counts.

An engine drives it like any session. What `next` has chosen is in the journal before the
engine hears of it, and so is what came of every URL before its events are told. Therefore a
crawl that ends at any moment, by whatever cause, is taken up by folding its journal:

- every entry is given to a fresh session, which must choose what it chose then (a difference
  is a `RunError`: it is not the same machine);
- what had been asked for and never came back is asked for again, before anything new; a page
  that the crawl has died of did come back, as a failure;
- nothing that has an outcome is ever asked for again, nor anything of a site that is blocked.

A demand that was answered with `Wait` or `Done` is not kept: it changes nothing. Snapshots
shorten the fold. If a page's exchange is kept as WARC, it is written first and the journal
knows where it ends: what stands behind the last end that the journal knows was never heard
of, and is cut off. Both are synced every second or so, so that a power cut costs no more than
that; how a run is taken up after one says `tres.store.recovery`.
"""

from __future__ import annotations

import shlex
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Protocol

from tres.crawl.events import Demand, Done, Event, Fetch, FetchFailed, Stepped, StopReason, Wait
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.engines.protocols import Exchange, Fetched
from tres.errors import RunError, SeedError, printable
from tres.settings.sections import KeepKind
from tres.store.journal import Journal
from tres.store.records import (
    Begin,
    Blocked,
    Demanded,
    Entry,
    Received,
    Seeds,
    fits,
)
from tres.store.recovery import Kept, first_lost, refuse_foreign, rewind
from tres.store.snapshot_files import (
    Snapshot,
    SnapshotWarning,
    is_due,
    read_snapshot,
    set_aside,
    write_snapshot,
)
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept

SYNC_EVERY = 1.0
"""Seconds between two syncs: what a power cut may cost."""
SYNC_SHARE = 0.05
"""Share of the time that syncing may take; on a slow disk the syncs come less often."""


class Warc(Kept, Protocol):
    """Where raw pages are kept."""

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        """Add an exchange, known by these URLs as well; the offset of the end afterwards."""

    def truncate(self, end: int) -> None:
        """Forget everything behind this offset."""

    def sync(self) -> None:
        """Bring everything to disk."""

    def close(self) -> None:
        """Nothing more comes, or nothing for now."""


class RecordedSession:
    """A `LiveSession`: a crawl session whose every outcome is in the journal before it counts."""

    def __init__(
        self,
        session: CrawlSession,
        journal: Journal,
        config: str,
        warc: Warc | None = None,
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
        self._owed = session.awaited
        self._clock = clock
        self._began = clock() - journal.seconds()
        self._next_sync = journal.seconds() + SYNC_EVERY
        self._paused_at: float | None = None

    @property
    def in_flight(self) -> int:
        """Fetches that have not come back yet; what is still to be asked for again is none."""
        return self.session.in_flight - len(self._owed)

    @property
    def seconds(self) -> float:
        """How long the crawl has taken so far, all its stretches together, without its pauses."""
        now = self._clock() if self._paused_at is None else self._paused_at
        return now - self._began

    def pause(self, paused: bool) -> None:
        """Nothing new is asked for from here on, or it is again: that time does not count."""
        if paused:
            self._paused_at = self._clock()
            with writing(self._run):
                self.sync()
        elif self._paused_at is not None:
            self._began += self._clock() - self._paused_at
            self._paused_at = None

    @property
    def interrupted(self) -> bool:
        """Was it told to choose nothing more?"""
        return self.session.interrupted

    def interrupt(self) -> None:
        """Choose nothing more; what is in flight may still come back."""
        self.session.interrupt()

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Up to `k` more URLs to fetch: first what is owed, then what the session chooses."""
        if self.interrupted:
            return Wait() if self.in_flight else Done(StopReason.INTERRUPTED)
        sites = tuple(waiting)
        again = self._owed_now(k, sites)
        if again and len(again) >= k:
            return Fetch(again)
        known = tuple(self.session.site_ids(sites))  # the others do not matter
        room = min(k - len(again), self._requests_left)
        demand = self.session.next(room, sites)
        if isinstance(demand, Fetch):
            with writing(self._run):
                self._append(Demanded(room, known, demand.urls))
            return Fetch((*again, *demand.urls))
        if again:
            return Fetch(again)
        spent = isinstance(demand, Wait) and self._requests_left == 0
        return Done(StopReason.REQUESTS) if spent and not self.session.in_flight else demand

    @property
    def _requests_left(self) -> int:
        """URLs that may still be asked for: no part of the session, so it may be raised."""
        return max(0, self._requests - self.session.asked) if self._requests else sys.maxsize

    def receive(
        self, url: str, outcome: Percept | Failed, fetched: Fetched | None = None
    ) -> list[Event]:
        """What came of a URL that `next` had asked for.

        An outcome that raises an error ends the crawl, but is kept as a failure: the URL would be
        asked for again by every crawl that goes on, and end it too.
        """
        is_seed = self.session.clicks(url) == 0
        try:
            events = self._keep_outcome(storable(Received(url, outcome)), fetched)
        except RunError:  # it cannot be written: nothing is wrong with the outcome
            raise
        except Exception:
            self._give_up(url, is_seed)
            raise
        with writing(self._run):
            self._sync_if_due()
            self._snapshot_if_due()
        return events

    def _keep_outcome(self, entry: Received, fetched: Fetched | None) -> list[Event]:
        events = self.session.receive(entry.asked, entry.outcome)
        with writing(self._run):
            end = self._archived(entry.asked, events, fetched)
            self.journal.append(entry, events, fetched, end, self.seconds)
        return events

    def _give_up(self, url: str, is_seed: bool) -> None:
        """Keep that a URL has failed; the session is half way between two states, and useless."""
        self.session.interrupt()
        failed = Failed(url, FailureKind.UNREADABLE)
        told = [FetchFailed(url, failed.kind, is_seed)]
        with writing(self._run):
            self.journal.append(Received(url, failed), told, seconds=self.seconds)

    def begin(self, pages: int, model: str) -> None:
        """From here on: another budget, or another judge."""
        with writing(self._run):
            self._append(Begin(pages, model))
        self.session.pages = pages

    def block(self, site: str) -> list[Event]:
        """From here on: nothing more of this site."""
        events = self.session.block(site)
        if events:
            with writing(self._run):
                self._append(Blocked(site))
        return events + self._refuse_owed()

    def _refuse_owed(self) -> list[Event]:
        """What would have to be asked for again on a blocked site has failed instead."""
        refused = [url for url, site in self._owed.items() if self.session.is_blocked(site)]
        events: list[Event] = []
        for url in refused:
            del self._owed[url]
            events += self.receive(url, Failed(url, FailureKind.SITE_BLOCKED))
        return events

    def _append(self, entry: Entry) -> None:
        self.journal.append(entry, seconds=self.seconds)

    def _owed_now(self, k: int, waiting: tuple[str, ...]) -> tuple[str, ...]:
        ready = [url for url, site in self._owed.items() if site not in waiting][: max(k, 0)]
        for url in ready:
            del self._owed[url]
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
        """Bring all that is kept to disk."""
        if self._warc is not None:
            self._warc.sync()
        self.journal.sync()

    def _snapshot_if_due(self) -> None:
        session = self.session
        if session.interrupted or not is_due(session.steps, self._last_snapshot):
            return
        if self.journal.meta.policy:  # what such a policy holds is known to its program alone
            return
        try:
            state = capture(session)
        except TypeError as problem:
            if type(session.policy).__module__.startswith("tres."):
                raise
            self._last_snapshot = session.steps
            warnings.warn(f"no snapshot was made: {problem}", SnapshotWarning, stacklevel=2)
            return
        self.sync()  # a power cut must not leave a snapshot of what it has taken away
        position = self.journal.position
        link = self.journal.link(position)
        write_snapshot(self._run, Snapshot(position, link, session.steps, self._config, state))
        self._last_snapshot = session.steps


def storable(entry: Received) -> Received:
    """The entry, or a failure in its place: one page must not end a crawl for good."""
    if fits(entry):
        return entry
    return Received(entry.asked, Failed(entry.asked, FailureKind.TOO_LARGE))


def resumed(
    journal: Journal,
    fresh: Callable[[], CrawlSession],
    config: str,
    warc: Warc | None = None,
    keep: KeepKind = "pages",
    requests: int = 0,
) -> RecordedSession:
    """The session as it was when the journal ended; `fresh` makes one at its first step.

    Nothing is changed before all of the journal is verified, held against the archive of raw
    pages, and folded.
    """
    journal.verify()
    lost = None if warc is None else first_lost(journal, warc)
    session, steps = folded(journal, fresh, config, lost)
    if warc is not None:
        refuse_foreign(journal, warc)
        with writing(journal.path.parent):
            if lost is not None:
                rewind(journal, lost)
            warc.truncate(journal.warc_end())
    recorded = RecordedSession(session, journal, config, warc, keep, steps, requests)
    recorded._refuse_owed()
    return recorded


def folded(
    journal: Journal, fresh: Callable[[], CrawlSession], config: str, before: int | None = None
) -> tuple[CrawlSession, int]:
    """The session as it was when the journal ended, and the steps of the snapshot it took.

    `before` ends the fold at a record: the session is as it was before that one.
    """
    last = journal.position if before is None else before - 1
    session, snapshot = _from_snapshot(journal, fresh, config, last)
    entries = journal.entries(snapshot.position if snapshot else 0)
    for position, entry in takewhile(lambda numbered: numbered[0] <= last, entries):
        if not _repeats(session, entry):
            raise RunError(
                f"{journal.path}: record {position} is not what the crawl does now, so the version "
                "of tres or of its libraries differs from then; use those, or crawl anew"
            )
    return session, snapshot.steps if snapshot else 0


def _from_snapshot(
    journal: Journal, fresh: Callable[[], CrawlSession], config: str, last: int
) -> tuple[CrawlSession, Snapshot | None]:
    run, session = journal.path.parent, fresh()
    snapshot = read_snapshot(run, config, last, journal.link)
    if snapshot is None:
        return session, None
    try:
        restore(session, snapshot.state)
    except ValueError as problem:
        set_aside(run, str(problem))
        return fresh(), None
    return session, snapshot


def _repeats(session: CrawlSession, entry: Entry) -> bool:
    """Give a session what it was given; does it choose what it chose?"""
    match entry:
        case Seeds():
            pass  # the session was made from them
        case Begin(pages, _):
            session.pages = pages
        case Blocked(site):
            session.block(site)
        case Demanded(k, waiting, urls):
            try:
                sites = [session.site_name(identity) for identity in waiting]
            except IndexError:
                return False
            return session.next(k, sites) == Fetch(urls)
        case Received(asked, outcome):
            if asked not in session.awaited:
                return False
            session.receive(asked, outcome)
    return True


def command_to_resume(run: Path) -> str:
    """What to type to go on with a run."""
    return f"tres resume {shlex.quote(str(run))}"


@contextmanager
def said_how_to_go_on(run: Path) -> Iterator[None]:
    """Whatever ends a crawl that has begun, its journal is whole: the error says how to go on."""
    try:
        yield
    except (RunError, SeedError):
        raise  # these say themselves what to do
    except Exception as error:
        error.add_note(printable(f"what was fetched is kept; go on: {command_to_resume(run)}"))
        raise


@contextmanager
def writing(run: Path, remedy: str = "") -> Iterator[None]:
    """A disk that takes nothing more ends the crawl with the way to go on; nothing is lost."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        go_on = f"free some space, then: {command_to_resume(run)}"
        raise RunError(f"{run}: cannot be written ({reason}); {remedy or go_on}") from error
