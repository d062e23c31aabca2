"""The journal: every demand and every outcome of a crawl, in order, only ever appended.

    journal.db  (SQLite)
      meta       what the whole run shares: its web, the names of its features
      records    all that the crawl was given (`tres.store.records`), numbered, chained by
                 checksums (`tres.store.checksum_chain`), and after how many seconds of crawling
      pages      one line per step, in plain columns: what was fetched, why, how it went
      failures   one line per URL that gave no page
      postponed  one line per attempt after which a URL went back to wait

The state of a crawl is the fold of `records`; the other tables say the same for people
(`sqlite3 journal.db "select step, url from pages"`) and for reports, which may read while a
crawl writes. One entry is one transaction, committed before anybody hears of it: a crawl
that is killed has lost nothing that it knew.

SQLite syncs the write-ahead log at checkpoints only (`synchronous = NORMAL`), and `sync` does
it every second or so: the end of the process loses nothing, the end of the power may lose the
last seconds, never the consistency. To sync every commit would cost milliseconds a page, ten
times what all the rest of it costs. How far the journal must reach in either case is kept beside
it (`tres.store.journal_mark`), and every journal is held against that when it is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Self

from tres.crawl.events import Event, FetchFailed, Postponed, Stepped
from tres.engines.protocols import Fetched
from tres.errors import RunError
from tres.files.durable import sync_directory, sync_file
from tres.store.checksum_chain import checksum, link_at, linked, links_after
from tres.store.exploration_log import EXPLORATION
from tres.store.journal_header import Meta, read_meta, write_meta
from tres.store.journal_mark import Extent, Mark, Promise, promised
from tres.store.journal_tables import (
    FAILURES_TABLE,
    POSTPONED_TABLE,
    Row,
    failure_values,
    pages_table,
    postponed_values,
    step_values,
)
from tres.store.records import (
    Begin,
    Blocked,
    DamagedError,
    Demanded,
    Entry,
    Received,
    Seeds,
    decode,
    encode,
    link_urls,
    names_url,
)

JOURNAL, MARK = "journal.db", "journal.mark"
_SELECT = "SELECT seq, kind, seconds, body, checksum FROM records"


class Lines(NamedTuple):
    """The checksums of the lines that a record has in the plain tables."""

    page: int | None
    failure: int | None
    """Of `failures` or of `postponed`: a record has a line in one of them at most."""


NO_LINES = Lines(None, None)


class Journal:
    """The journal of one run, open; use it as a context manager."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        meta: Meta,
        last: Extent,
        promise: Promise | None = None,
        mark: Mark | None = None,
    ) -> None:
        self.path = path
        self.meta = meta
        self.promise = promise
        """What had to be there when it was opened, if anything had."""
        self._last = last
        self._mark = mark
        self._connection = connection
        self._pages = pages_table(meta.features)

    @property
    def position(self) -> int:
        """Number of the last record."""
        return self._last.position

    @classmethod
    def create(cls, path: Path, meta: Meta, seeds: Seeds, begin: Begin) -> Self:
        """A new journal with its first two records; it is there as a whole or not at all."""
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.unlink(missing_ok=True)
        with closing(_connect(unfinished, "rwc")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            write_meta(connection, meta)
            for statement in _tables(meta.features):
                connection.execute(statement)
            journal = cls(unfinished, connection, meta, Extent(0, meta.checksum))
            journal._insert(seeds)
            journal._insert(begin)
            connection.execute("COMMIT")
        Mark.create(mark_of(path), journal._last).close()
        unfinished.replace(path)
        sync_directory(path.parent)
        return cls.open(path, to_write=True)

    @classmethod
    def open(cls, path: Path, to_write: bool = False) -> Self:
        """The journal in a file; `RunError` if there is none that can be read."""
        if not path.exists():
            raise RunError(_missing(path))
        promise = _promised(path)  # read first: a crawl that is going on only adds to the journal
        with _named(path):
            _roll_back(path)
            connection = _connect(path, "rw" if to_write else "ro")
        try:
            with _named(path):
                meta = read_meta(connection, path)
                last = _last(connection, meta)
                _refuse_shorter(connection, path, last, promise)
                if not to_write:
                    return cls(path, connection, meta, last, promise)
                last = last._replace(warc_end=_warc_end(connection, last.position + 1))
            _write_ahead(connection)
            sync_directory(path.parent)  # the write-ahead log may be new
            mark = _mark(path, last, promise)
        except BaseException:  # whatever it was: the file is closed again
            connection.close()
            raise
        return cls(path, connection, meta, last, promise, mark)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Fold the write-ahead log into the file, so that the journal of a run at rest is one."""
        with suppress(sqlite3.Error):  # somebody reads, or the disk is full: it stays as it is
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._mark is not None:
            mark, self._mark = self._mark, None
            with suppress(OSError):  # then what was promised before holds
                sync_file(self._log)
                mark.settle(self._last)
            mark.close()

    def sync(self) -> None:
        """Bring all that is committed to disk; what it tells of the WARC files must be there."""
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
        """Keep an entry with what the session said to it; it is committed when this returns.

        `seconds` is how long the crawl had taken by then.
        """
        before = self._last
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            lines = NO_LINES
            if isinstance(entry, Received):
                lines = self._tell(events, fetched, warc_end)
            self._insert(entry, seconds, lines, warc_end)
            self._connection.execute("COMMIT")
        except BaseException:  # whatever it was: all of the entry is kept, or nothing
            self._last = before
            with suppress(sqlite3.Error):  # a full disk may have rolled it back already
                self._connection.execute("ROLLBACK")
            raise
        if self._mark is not None:
            self._mark.commit(self._last)

    def rewind(self, first: int) -> None:
        """Forget this record and all behind it, for good."""
        with _named(self.path):
            kept = Extent(first - 1, link_at(self._connection, first - 1), self.warc_end(first))
        if self._mark is not None:  # before: what is promised must be there at every moment
            self._mark.settle(kept)
        self._connection.execute("BEGIN IMMEDIATE")
        for table in ("records", "pages", "failures", "postponed"):
            self._connection.execute(f"DELETE FROM {table} WHERE seq >= ?", (first,))
        self._connection.execute("COMMIT")
        self._last = kept
        self.sync()

    def check(self, after: int = 0) -> None:
        """`RunError` if anything behind a record is changed or missing; contents are not read."""
        with _named(self.path):
            before = link_at(self._connection, after) if after else self.meta.checksum
            for _ in links_after(self._connection, after, before):
                pass

    def verify(self) -> None:
        """`RunError` if anything at all is changed or missing: read before a crawl goes on."""
        self.check()
        begins = 0
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(f"{_SELECT} ORDER BY seq"):
                _refuse_changed(*row)
                begins += row[1] == "begin"
            if begins != len(self.segments()):
                raise DamagedError("its list of segments is not what was written")
            for table in (self._pages, FAILURES_TABLE, POSTPONED_TABLE):
                for _ in table.rows(self._connection):
                    pass

    def link(self, seq: int) -> int:
        """What stands for all that the journal holds up to a record."""
        with _named(self.path):
            return link_at(self._connection, seq)

    def entries(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """All entries behind a position, each with its own; `RunError` at the first bad one."""
        self.check(after)
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            cursor.execute(f"{_SELECT} WHERE seq > ? ORDER BY seq", (after,))
            for row in cursor:
                yield row[0], _entry(*row)

    def entry(self, seq: int) -> Entry:
        """One entry by its number."""
        with _named(self.path):
            row = self._connection.execute(f"{_SELECT} WHERE seq = ?", (seq,)).fetchone()
            if row is None:
                raise DamagedError(f"record {seq} is missing")
            return _entry(*row)

    def naming(self, urls: Sequence[str], before: int | None = None) -> Iterator[tuple[int, Entry]]:
        """The entries that name any of some URLs, with their numbers; only these are decoded.

        `before` ends the search at a record.
        """
        query = f"{_SELECT} WHERE seq < ? ORDER BY seq"
        end = self.position + 1 if before is None else before
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(query, (end,)):
                if names_url(row[3], urls):
                    yield row[0], _entry(*row)

    def demands(self) -> Iterator[tuple[int, Demanded]]:
        """What was chosen, in order, each with the number of its record."""
        query = f"{_SELECT} WHERE kind = 'demand' ORDER BY seq"
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(query):
                if isinstance(entry := _entry(*row), Demanded):
                    yield row[0], entry

    def judge_of(self, seq: int) -> str:
        """The digest of the model that judged the page of a record."""
        query = f"{_SELECT} WHERE kind = 'begin' AND seq < ? ORDER BY seq DESC LIMIT 1"
        with _named(self.path):
            row = self._connection.execute(query, (seq,)).fetchone()
            begin = None if row is None else _entry(*row)
            if isinstance(begin, Begin):
                return begin.model
            raise DamagedError("it names no model")

    def exchange_of(self, seq: int) -> tuple[int, int] | None:
        """Where what a server sent for a page begins and ends in the archive, if it is kept."""
        query = "SELECT max(warc_end) FROM pages WHERE seq < ?"
        with _named(self.path):
            row = self._connection.execute(
                "SELECT warc_end FROM pages WHERE seq = ?", (seq,)
            ).fetchone()
            if row is None or row[0] is None:
                return None
            (start,) = self._connection.execute(query, (seq,)).fetchone()
        return int(start or 0), int(row[0])

    def exchanges(self) -> dict[int, tuple[int, int]]:
        """Where each page that is kept begins and ends in the archive, by its record."""
        query = "SELECT seq, warc_end FROM pages WHERE warc_end IS NOT NULL ORDER BY seq"
        with _named(self.path):
            kept = [(int(seq), int(end)) for seq, end in self._connection.execute(query)]
        ends = accumulate((end for _, end in kept), max, initial=0)
        return {seq: (start, end) for (seq, end), start in zip(kept, ends, strict=False)}

    def seeds(self) -> Seeds:
        """The links that the crawl started from."""
        query = f"{_SELECT} WHERE seq = 1"
        with _named(self.path):
            row = self._connection.execute(query).fetchone()
            seeds = None if row is None else _entry(*row)
            if isinstance(seeds, Seeds):
                return seeds
            raise DamagedError("it does not begin with seeds")

    def segments(self) -> list[Begin]:
        """Budgets and models, in order."""
        query = f"{_SELECT} WHERE kind = 'begin' ORDER BY seq"
        with _named(self.path):
            begins = [_entry(*row) for row in self._connection.execute(query).fetchall()]
            if not begins:
                raise DamagedError("it names no budget")
        return [begin for begin in begins if isinstance(begin, Begin)]

    def blocked(self) -> set[str]:
        """Sites of which nothing more is wanted."""
        query = f"{_SELECT} WHERE kind = 'blocked'"
        with _named(self.path):
            entries = [_entry(*row) for row in self._connection.execute(query).fetchall()]
        return {entry.site for entry in entries if isinstance(entry, Blocked)}

    def pages(self) -> Iterator[Row]:
        """The steps, in order, by the names of the columns."""
        return (row for _, row in self.pages_after(0))

    def pages_after(self, seq: int) -> Iterator[tuple[int, Row]]:
        """The steps behind a record, for whoever has read the others; with their records."""
        self.check(seq)
        with _named(self.path):
            yield from self._pages.rows(self._connection, seq)

    def failures(self) -> Iterator[Row]:
        """The failures, in order, by the names of the columns."""
        return (row for _, row in self.failures_after(0))

    def failures_after(self, seq: int) -> Iterator[tuple[int, Row]]:
        """The failures behind a record, with their records."""
        self.check(seq)
        with _named(self.path):
            yield from FAILURES_TABLE.rows(self._connection, seq)

    def postponed(self) -> Iterator[Row]:
        """The attempts after which a URL went back to wait, in order."""
        self.check()
        with _named(self.path):
            yield from (row for _, row in POSTPONED_TABLE.rows(self._connection))

    def resting(self) -> dict[str, float]:
        """Sites that had to be left alone, and until when, by the last word on each."""
        return {row["rests"]: row["until"] for row in self.postponed() if row["rests"] is not None}

    def steps(self) -> int:
        """Pages that were fetched and judged."""
        with _named(self.path):
            (steps,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()
        return int(steps)

    def seconds(self) -> float:
        """How long the crawl had taken when its last record was written."""
        query = "SELECT seconds FROM records ORDER BY seq DESC LIMIT 1"
        with _named(self.path):
            row = self._connection.execute(query).fetchone()
            return 0.0 if row is None else float(row[0])

    def times_after(self, seq: int) -> Iterator[tuple[int, int, float]]:
        """The steps behind a record: record, number, and the seconds of crawling until then."""
        query = (
            "SELECT seq, step, records.seconds FROM pages JOIN records USING (seq) "
            "WHERE seq > ? ORDER BY seq"
        )
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            yield from cursor.execute(query, (seq,))

    def warc_end(self, before: int | None = None) -> int:
        """Where the last page that is told of here ends in the archive; 0 if none is kept.

        `before` asks about the pages before a record.
        """
        with _named(self.path):
            return _warc_end(self._connection, self.position + 1 if before is None else before)

    def read_before(self) -> Iterator[tuple[tuple[str, ...], int | None]]:
        """The links and the fingerprint of every step, in order."""
        query = (
            "SELECT seq, kind, records.seconds, body, records.checksum, fingerprint "
            "FROM records JOIN pages USING (seq) ORDER BY seq"
        )
        with _named(self.path), closing(self._connection.cursor()) as cursor:
            for *row, fingerprint in cursor.execute(query):
                _refuse_changed(*row)
                yield link_urls(row[3]), None if fingerprint is None else int(fingerprint, 16)

    def _insert(
        self,
        entry: Entry,
        seconds: float = 0.0,
        lines: Lines = NO_LINES,
        warc_end: int | None = None,
    ) -> None:
        kind, body = encode(entry)
        seq, at = self.position + 1, round(seconds, 3)
        own = checksum(seq, kind, at, body)
        link = linked(self._last.chain, seq, own, *lines)
        values = (seq, kind, at, own, link, body)
        self._connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", values)
        self._last = Extent(seq, link, warc_end or self._last.warc_end)

    def _tell(
        self, events: Sequence[Event], fetched: Fetched | None, warc_end: int | None
    ) -> Lines:
        """Write the lines of the next record; their checksums."""
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
                case _:
                    pass  # splits and caps follow from the entries by themselves
        return Lines(page, failure)


def _tables(features: Sequence[str]) -> Iterator[str]:
    yield (
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, seconds REAL NOT NULL, "
        "checksum INTEGER NOT NULL, link INTEGER NOT NULL, body BLOB NOT NULL)"
    )
    yield "CREATE INDEX begins ON records (kind) WHERE kind = 'begin'"
    yield pages_table(features).creation
    yield FAILURES_TABLE.creation
    yield POSTPONED_TABLE.creation


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None)


def _roll_back(path: Path) -> None:
    """Let SQLite undo a change of the file that a power cut has stopped: readers cannot.

    The file changes on its own at the beginning and at the end of a crawl only.
    """
    if path.with_name(f"{path.name}-journal").exists():
        with closing(_connect(path, "rw")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _write_ahead(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def mark_of(path: Path) -> Path:
    """Where the mark of a journal stands."""
    return path.with_suffix(Path(MARK).suffix)


def _missing(path: Path) -> str:
    """What to do where there is no journal; an exploration is worth keeping."""
    if (path.parent / EXPLORATION).is_file():
        return (
            f"{path.parent}: is still learning its topic and has no pages yet; wait for it, or, if "
            "it was stopped, go on with 'tres resume'"
        )
    return (
        f"{path.parent}: there is no {path.name}; name a run that this version of tres "
        "has crawled, or run the crawl again with --overwrite"
    )


def _promised(path: Path) -> Promise | None:
    mark = mark_of(path)
    try:
        return promised(mark)
    except DamagedError as problem:
        raise RunError(
            f"{mark}: damaged ({problem}); put back a copy of it, or remove it to go on without "
            "what it knows, namely whether the end of the journal is lost"
        ) from None


def _mark(path: Path, last: Extent, promise: Promise | None) -> Mark:
    if promise is None:
        return Mark.create(mark_of(path), last)
    mark = Mark(mark_of(path), promise.synced)
    mark.commit(last)
    return mark


def _last(connection: sqlite3.Connection, meta: Meta) -> Extent:
    """How far a journal reaches, if its first record is one of this run.

    Readers open a journal every second or so while it grows: all of this is found by numbers. The
    end of the archive is not, and only who writes needs it.
    """
    begun = next(links_after(connection, 0, meta.checksum), 0)
    (last,) = connection.execute("SELECT max(seq) FROM records").fetchone()
    if not begun:
        raise DamagedError("it has no records")
    return Extent(last, link_at(connection, last))


def _warc_end(connection: sqlite3.Connection, before: int) -> int:
    query = "SELECT max(warc_end) FROM pages WHERE seq < ?"
    (end,) = connection.execute(query, (before,)).fetchone()
    return int(end or 0)


def _refuse_shorter(
    connection: sqlite3.Connection, path: Path, last: Extent, promise: Promise | None
) -> None:
    """A journal that is not what was promised has lost its end, or is another one."""
    if promise is None:
        return
    least = promise.least
    if last.position < least.position:
        raise RunError(
            f"{path}: ends with record {last.position:,}, but {least.position:,} were written; put "
            f"back {path.name}-wal or a copy of the run, or remove {mark_of(path)} to go on from "
            "what is there"
        )
    if link_at(connection, least.position) != least.chain:
        raise DamagedError(f"up to record {least.position} it is not what was written")


def _refuse_changed(seq: int, kind: object, seconds: object, body: object, own: object) -> None:
    if not (isinstance(kind, str) and isinstance(seconds, float) and isinstance(body, bytes)):
        raise DamagedError(f"record {seq} is none")
    if own != checksum(seq, kind, seconds, body):
        raise DamagedError(f"record {seq} is not what was written")


def _entry(seq: int, kind: str, seconds: float, body: bytes, own: int) -> Entry:
    _refuse_changed(seq, kind, seconds, body, own)
    try:
        return decode(kind, body)
    except DamagedError as problem:
        raise DamagedError(f"record {seq}: {problem}") from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Whatever is found wrong with a journal is a `RunError` that names its file."""
    try:
        yield
    except (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise RunError(
            f"{path}: damaged ({error}); put back a copy of it, or run the crawl again"
        ) from None
