"""Rebuilding a session from its journal, so that a crawl goes on as if it had never stopped.

A session is deterministic: a fresh one is given every entry of the journal again, and must choose
what it chose then. A difference is a `RunError`, as the code or a library is not the same. A
snapshot shortens the fold (`tres.store.snapshot_files`). What a crawl has lost in an accident is
dealt with first (`tres.store.recovery`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from tres.crawl.events import Fetch
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import restore
from tres.errors import RunError
from tres.settings.sections import KeepKind
from tres.store.journal import Journal
from tres.store.recorded_session import PageArchive, RecordedSession
from tres.store.records import Begin, Blocked, Demanded, Entry, Received, Seeds
from tres.store.recovery import first_lost, refuse_foreign, rewind
from tres.store.resume_hints import write_errors
from tres.store.snapshot_files import Snapshot, read_snapshot, set_aside


def resume_session(
    journal: Journal,
    fresh: Callable[[], CrawlSession],
    config: str,
    warc: PageArchive | None = None,
    keep: KeepKind = "pages",
    requests: int = 0,
) -> RecordedSession:
    """Take up a run: the session as it was when the journal ended.

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
    """Fold a journal: the session as it was at its end, and the steps of the snapshot used.

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
