"""The file of a journal: its header and its chain of checksums, how it is created and opened.

SQLite's own header has our application id and the version of the format; the table `meta` has the
rest of the header, a row each, as JSON.

Every record confirms all before it. A record has a checksum of its own (number, kind, time,
content), and so has every row of the plain tables. The *link* of a record is a checksum over the
link of the record before, its own checksum, and those of its rows; the link before the first record
is the checksum of the header. So one number, the link of the last record, stands for the whole
journal: whatever is changed, removed or moved breaks the chain at that place, and two journals with
the same link at a record are equal up to there.

SQLite syncs the write-ahead log at checkpoints only (`synchronous = NORMAL`), and `Journal.sync`
does it every second or so: the end of the process loses nothing, a power cut may lose the last
seconds, never the consistency. To sync every commit would cost milliseconds a page, ten times
what all the rest of it costs.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from tres import __version__
from tres.errors import RunError
from tres.store.high_water_mark import Extent, HighWaterMark, Required, mark_path, read_mark
from tres.store.journal_records import DamagedError
from tres.store.journal_tables import FAILURES_TABLE, POSTPONED_TABLE, pages_table

FORMAT = 3
APPLICATION = 0x74726573
"""SQLite's application id of a journal: `tres` in ASCII."""
_LINKS = (
    "SELECT records.seq, records.checksum, link, pages.checksum, "
    "coalesce(failures.checksum, postponed.checksum) FROM records "
    "LEFT JOIN pages ON pages.seq = records.seq LEFT JOIN failures ON failures.seq = records.seq "
    "LEFT JOIN postponed ON postponed.seq = records.seq "
    "WHERE records.seq > ? ORDER BY records.seq"
)


class Meta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds for a whole run. `web` is the address of its web, empty for the live Web."""

    web: str
    web_name: str
    features: tuple[str, ...]
    exploration_pages: int = 0
    """Pages that earlier versions fetched before the crawl; always 0 now."""
    version: str = __version__
    policy: str = ""
    """The policy object that a program passed; empty if the configuration names the policy."""

    @property
    def checksum(self) -> int:
        """The link from which the chain of the records starts."""
        return zlib.crc32(
            json.dumps([FORMAT, msgspec.structs.asdict(self)], sort_keys=True).encode()
        )


def read_meta(connection: sqlite3.Connection, path: Path) -> Meta:
    """Return the header of a journal; `RunError` or `DamagedError` if it is not one of tres."""
    _refuse_foreign(connection, path)
    values = {
        key: json.loads(value)
        for key, value in connection.execute("SELECT key, value FROM meta").fetchall()
    }
    return msgspec.convert(values, Meta)


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise RunError(
            f"{path}: is not a journal of tres; name a run that 'tres crawl' has written"
        )
    if version != FORMAT:
        raise RunError(
            f"{path}: has the format {version}, and this version of tres reads {FORMAT}; use the "
            "version of tres that wrote it"
        )


def checksum(seq: int, kind: str, seconds: float, body: bytes) -> int:
    """Return the checksum of one record."""
    return zlib.crc32(body, zlib.crc32(f"{seq} {kind} {seconds!r}".encode("utf-8", "replace")))


def linked(before: int, seq: int, record: int, page: int | None, failure: int | None) -> int:
    """Return the link of a record, from its checksums and the link of the record before."""
    return zlib.crc32(f"{seq} {record} {page} {failure}".encode(), before)


def link_at(connection: sqlite3.Connection, seq: int) -> int:
    """Return the link of a record."""
    row = connection.execute("SELECT link FROM records WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        raise DamagedError(f"record {seq} is missing")
    return int(row[0])


def links_after(connection: sqlite3.Connection, seq: int, before: int) -> Iterator[int]:
    """Iterate over the numbers of the records after one with the link `before`, each checked."""
    with closing(connection.cursor()) as cursor:
        for number, record, link, page, failure in cursor.execute(_LINKS, (seq,)):
            seq += 1
            if number != seq:
                raise DamagedError(f"record {seq} is missing")
            before = linked(before, seq, record, page, failure)
            if link != before:
                raise DamagedError(f"record {seq} or one of its rows is not what was written")
            yield seq


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a database file to read (`ro`), to write (`rw`), or to create (`rwc`)."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None)


def create_tables(connection: sqlite3.Connection, meta: Meta) -> None:
    """Make an empty file the journal of a run."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    rows = [(key, json.dumps(value)) for key, value in msgspec.structs.asdict(meta).items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
    connection.execute(
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, seconds REAL NOT NULL, "
        "checksum INTEGER NOT NULL, link INTEGER NOT NULL, body BLOB NOT NULL)"
    )
    connection.execute("CREATE INDEX begins ON records (kind) WHERE kind = 'begin'")
    for table in (pages_table(meta.features), FAILURES_TABLE, POSTPONED_TABLE):
        connection.execute(table.creation)


def write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers read while a crawl writes."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def roll_back(path: Path) -> None:
    """Let SQLite undo a change of the file that a power cut interrupted: readers cannot.

    The file changes on its own at the beginning and at the end of a crawl only.
    """
    if path.with_name(f"{path.name}-journal").exists():
        with closing(connect(path, "rw")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def extent_of(connection: sqlite3.Connection, meta: Meta) -> Extent:
    """Return how far a journal reaches, if its first record belongs to this run.

    Readers open a journal every second or so while it grows, so this looks at no more than two
    records. The end of the archive would take longer, and only writers need it (`warc_end_of`).
    """
    begun = next(links_after(connection, 0, meta.checksum), 0)
    (last,) = connection.execute("SELECT max(seq) FROM records").fetchone()
    if not begun:
        raise DamagedError("it has no records")
    return Extent(last, link_at(connection, last))


def warc_end_of(connection: sqlite3.Connection, before: int) -> int:
    """Return where the last page before a record ends in the archive; 0 if none is kept."""
    query = "SELECT max(warc_end) FROM pages WHERE seq < ?"
    (end,) = connection.execute(query, (before,)).fetchone()
    return int(end or 0)


def required_of(path: Path) -> Required | None:
    """Return how far the journal in a file must reach, by its mark; None if it has no mark."""
    mark = mark_path(path)
    try:
        return read_mark(mark)
    except DamagedError as problem:
        raise RunError(
            f"{mark}: damaged ({problem}); put back a copy of it, or remove it to go on without "
            "what it knows, namely whether the end of the journal is lost"
        ) from None


def open_mark(path: Path, last: Extent, required: Required | None) -> HighWaterMark:
    """Return the mark of a journal, open for writing."""
    if required is None:
        return HighWaterMark.create(mark_path(path), last)
    mark = HighWaterMark(mark_path(path), required.synced)
    mark.commit(last)
    return mark


def refuse_shorter(
    connection: sqlite3.Connection, path: Path, last: Extent, required: Required | None
) -> None:
    """Refuse a journal that has lost its end, or that the mark does not belong to."""
    if required is None:
        return
    least = required.least
    if last.position < least.position:
        raise RunError(
            f"{path}: ends with record {last.position:,}, but {least.position:,} were written; put "
            f"back {path.name}-wal or a copy of the run, or remove {mark_path(path)} to go on from "
            "what is there"
        )
    if link_at(connection, least.position) != least.chain:
        raise DamagedError(f"up to record {least.position} it is not what was written")


def refuse_missing(path: Path) -> None:
    """Refuse a path without a journal and say what to do."""
    if not path.exists():
        raise RunError(
            f"{path.parent}: there is no {path.name}; name a run that this version of tres "
            "has crawled, or run the crawl again with --overwrite"
        )


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn whatever is wrong with a journal into a `RunError` that names its file."""
    try:
        yield
    except (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise RunError(
            f"{path}: damaged ({error}); put back a copy of it, or run the crawl again"
        ) from None
