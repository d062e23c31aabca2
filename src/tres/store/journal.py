"""The journal: every demand and every outcome of a crawl, in order, only ever appended.

    journal.db  (SQLite)
      meta       what the whole run shares: its web, the names of its features
      records    the inputs of the crawl (`tres.store.journal_records`), numbered, chained by
                 checksums (`tres.store.journal_file`), and after how many seconds of crawling
      pages      one row per step, in plain columns: what was fetched, why, how it went
      failures   one row per URL that gave no page
      postponed  one row per attempt after which a URL went back to the frontier

The state of a crawl is the fold of `records`; the other tables say the same for people
(`sqlite3 journal.db "select step, url from pages"`) and for reports, which may read while a
crawl writes. One entry is one transaction, committed before the engine acts on it: a crawl
that is killed has lost nothing that it knew. How far the journal must reach after a kill or a
power cut is kept beside it (`tres.store.high_water_mark`) and checked whenever it is opened.

This file appends; `tres.store.journal_reader` reads, `tres.store.journal_file` opens and checks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self

from tres.crawl.events import Event, FetchFailed, Postponed, Stepped
from tres.engines.protocols import Fetched
from tres.files.durable import atomic_replace, sync_directory, sync_file
from tres.store.high_water_mark import Extent, HighWaterMark, mark_path
from tres.store.journal_file import (
    Meta,
    checksum,
    connect,
    create_tables,
    damage_named,
    extent_of,
    link_at,
    linked,
    open_mark,
    read_meta,
    refuse_missing,
    refuse_shorter,
    required_of,
    roll_back,
    warc_end_of,
    write_ahead,
)
from tres.store.journal_reader import JournalReader
from tres.store.journal_records import Begin, Entry, Seeds, encode
from tres.store.journal_tables import (
    FAILURES_TABLE,
    POSTPONED_TABLE,
    failure_values,
    postponed_values,
    step_values,
)

JOURNAL = "journal.db"


class RowChecksums(NamedTuple):
    """The checksums of the rows that a record has in the plain tables."""

    page: int | None
    failure: int | None
    """For `failures` or `postponed`: a record has a row in at most one of them."""


NO_ROWS = RowChecksums(None, None)


class Journal(JournalReader):
    """The journal of one run, open; use it as a context manager."""

    _mark: HighWaterMark | None = None
    """Only for a journal that is open for writing."""

    @classmethod
    def create(cls, path: Path, meta: Meta, seeds: Seeds, begin: Begin) -> Self:
        """Create a journal with its first two records; it appears as a whole or not at all."""
        with atomic_replace(path) as unfinished:
            with closing(connect(unfinished, "rwc")) as connection:
                connection.execute("BEGIN IMMEDIATE")
                create_tables(connection, meta)
                journal = cls(unfinished, connection, meta, Extent(0, meta.checksum))
                journal._insert(seeds)
                journal._insert(begin)
                connection.execute("COMMIT")
            HighWaterMark.create(mark_path(path), journal._last).close()
        return cls.open(path, to_write=True)

    @classmethod
    def open(cls, path: Path, to_write: bool = False) -> Self:
        """Open the journal in a file; `RunError` if it is missing or unreadable."""
        refuse_missing(path)
        required = required_of(path)  # read first: a crawl that is going on only adds to it
        with damage_named(path):
            roll_back(path)
            connection = connect(path, "rw" if to_write else "ro")
        try:
            with damage_named(path):
                meta = read_meta(connection, path)
                last = extent_of(connection, meta)
                refuse_shorter(connection, path, last, required)
                if not to_write:
                    return cls(path, connection, meta, last, required)
                last = last._replace(warc_end=warc_end_of(connection, last.position + 1))
            write_ahead(connection)
            sync_directory(path.parent)  # the write-ahead log may be new
            journal = cls(path, connection, meta, last, required)
            journal._mark = open_mark(path, last, required)
        except BaseException:  # whatever it was: the file is closed again
            connection.close()
            raise
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Merge the write-ahead log into the file: the journal of an idle run is a single file."""
        with suppress(sqlite3.Error):  # somebody reads, or the disk is full: it stays as it is
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._mark is not None:
            mark, self._mark = self._mark, None
            with suppress(OSError):  # then the mark from before holds
                sync_file(self._log)
                mark.settle(self._last)
            mark.close()

    def sync(self) -> None:
        """Sync everything committed to disk; the WARC files must be synced already."""
        sync_file(self._log)
        if self._mark is not None:
            self._mark.sync(self._last)

    @property
    def _log(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

    def append(
        self,
        entry: Entry,
        events: Sequence[Event] = (),
        fetched: Fetched | None = None,
        warc_end: int | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Append an entry and the session's events; it is committed when this returns.

        `seconds` is how long the crawl had taken by then.
        """
        before = self._last
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            rows = self._insert_rows(events, fetched, warc_end)
            self._insert(entry, seconds, rows, warc_end)
            self._connection.execute("COMMIT")
        except BaseException:  # whatever it was: all of the entry is kept, or nothing
            self._last = before
            with suppress(sqlite3.Error):  # a full disk may have rolled it back already
                self._connection.execute("ROLLBACK")
            raise
        if self._mark is not None:
            self._mark.commit(self._last)

    def rewind(self, first: int) -> None:
        """Delete this record and all after it, for good."""
        with damage_named(self.path):
            kept = Extent(first - 1, link_at(self._connection, first - 1), self.warc_end(first))
        if self._mark is not None:  # before: what the mark requires must be there at every moment
            self._mark.settle(kept)
        self._connection.execute("BEGIN IMMEDIATE")
        for table in ("records", "pages", "failures", "postponed"):
            self._connection.execute(f"DELETE FROM {table} WHERE seq >= ?", (first,))
        self._connection.execute("COMMIT")
        self._last = kept
        self.sync()

    def _insert(
        self,
        entry: Entry,
        seconds: float = 0.0,
        rows: RowChecksums = NO_ROWS,
        warc_end: int | None = None,
    ) -> None:
        kind, body = encode(entry)
        seq, at = self.position + 1, round(seconds, 3)
        own = checksum(seq, kind, at, body)
        link = linked(self._last.chain, seq, own, *rows)
        values = (seq, kind, at, own, link, body)
        self._connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", values)
        self._last = Extent(seq, link, warc_end or self._last.warc_end)

    def _insert_rows(
        self, events: Sequence[Event], fetched: Fetched | None, warc_end: int | None
    ) -> RowChecksums:
        """Write the rows of the next record; the other events follow from its entry."""
        seq, page, failure = self.position + 1, None, None
        for event in events:
            match event:
                case Stepped():
                    values = step_values(event, fetched, warc_end)
                    page = self._pages.add(self._connection, seq, values)
                case FetchFailed():
                    values = failure_values(event, fetched)
                    failure = FAILURES_TABLE.add(self._connection, seq, values)
                case Postponed():
                    values = postponed_values(event, fetched)
                    failure = POSTPONED_TABLE.add(self._connection, seq, values)
        return RowChecksums(page, failure)
