"""Rebuilding a session from its journal, so that a crawl goes on as if it had never stopped.

A session is deterministic: a fresh one is given every entry of the journal again, and must choose
what it chose then. A difference is a `RunError`, as the code or a library is not the same. A
snapshot shortens the fold (`tres.store.snapshot_files`).

What a crawl has lost in an accident is dealt with first: how far do journal and WARC files reach?
A page is in the WARC files before it is in the journal, and both are synced every second or so.
So a *kill* leaves at most one exchange that the journal does not know; it is cut off. A *power
cut* may take the last seconds from either. Pages in the journal that the WARC files have lost are
fetched again: the journal is rewound to the record before the first of them, and the requests
without an outcome there are repeated. Only other accidents can lose what was synced long ago. A
few pages at the end (of a file that was not copied whole) are fetched again too; more than that
looks like files of another run, and nothing is changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import takewhile

from tres.crawl.events import Fetch
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import restore
from tres.errors import RunError, printable
from tres.numbers import format_count
from tres.settings.sections import KeepKind
from tres.store.high_water_mark import mark_path
from tres.store.journal import Journal
from tres.store.journal_records import (
    Begin,
    Blocked,
    Demanded,
    Entry,
    PageText,
    Received,
    Seeds,
)
from tres.store.recorded_session import PageArchive, RecordedSession
from tres.store.run_directory import write_errors
from tres.store.snapshot_files import Snapshot, read_snapshot, set_aside

MOST = 100
"""How many synced pages may be missing and are simply fetched again."""
OF_ONE_EXCHANGE = 3
"""Records that a kill can leave after the last page: warcinfo, request and response."""


class RewoundWarning(UserWarning):
    """Some pages were lost in an accident and are fetched again."""


def resume_session(
    journal: Journal,
    fresh: Callable[[], CrawlSession],
    config: str,
    warc: PageArchive | None = None,
    keep: KeepKind = "pages",
    requests: int = 0,
) -> RecordedSession:
    """Resume a run: return the session as it was when the journal ended.

    `fresh` makes a session at its first step. Nothing is changed before all of the journal is
    verified, compared with the archive of raw pages, and folded.
    """
    journal.verify()
    lost = None if warc is None else first_lost(journal, warc)
    session, steps = rebuild_session(journal, fresh, config, lost)
    if warc is not None:
        refuse_foreign(journal, warc)
        with write_errors(journal.path.parent):
            if lost is not None:
                rewind(journal, lost)
            warc.truncate(journal.warc_end())
    recorded = RecordedSession(session, journal, config, warc, keep, steps, requests)
    recorded.refuse_blocked()
    return recorded


def rebuild_session(
    journal: Journal, fresh: Callable[[], CrawlSession], config: str, before: int | None = None
) -> tuple[CrawlSession, int]:
    """Fold a journal; return the session at its end, and the steps of the snapshot used.

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
    """Give an entry to a session again; does the session choose what it chose then?"""
    match entry:
        case Seeds() | PageText():
            pass  # the session was made from seeds, and knows nothing of texts
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


def first_lost(journal: Journal, kept: PageArchive) -> int | None:
    """Return the record of the first page that the WARC files have lost at their end, if any."""
    safe = 0 if journal.required is None else journal.required.synced.warc_end
    lost, missed = None, 0
    for record, (start, end) in reversed(journal.exchanges().items()):
        if kept.is_whole(start, end):
            if end <= safe:
                break
        else:
            lost, missed = record, missed + (end <= safe)
            if missed > MOST or (start == 0 and safe):
                raise _others(journal)
    return lost


def refuse_foreign(journal: Journal, kept: PageArchive) -> None:
    """Refuse WARC files with pages whose absence from the journal no accident explains."""
    required = journal.required
    if required is None or not required.is_exact:
        return  # a power cut may take seconds from the journal that the files still have
    if kept.surplus(journal.warc_end()) > OF_ONE_EXCHANGE:
        raise _others(journal)


def rewind(journal: Journal, first: int) -> None:
    """Delete a record of a journal and all after it, with a warning."""
    run, before = journal.path.parent, journal.steps()
    journal.rewind(first)
    again = format_count(before - journal.steps(), "page")
    text = f"{run}: its WARC files have lost their end; {again} will be fetched again"
    warnings.warn(printable(text), RewoundWarning, stacklevel=2)


def _others(journal: Journal) -> RunError:
    return RunError(
        f"{journal.path.parent}: its WARC files are not those of its journal, so nothing was "
        f"changed; put them back as they were, or remove {mark_path(journal.path)} to go on from "
        "the last page that both have"
    )
