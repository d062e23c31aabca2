"""The chain of a journal: every record confirms all before it.

A record has a checksum of its own (number, kind, time, content), and so has every row of the plain
tables. The *link* of a record is a checksum over the link of the record before, its own checksum,
and those of its rows; the link before the first record is the checksum of the journal's header
(`store.journal_header`). So one number, the link of the last record, stands for the whole journal:
whatever is changed, removed or moved breaks the chain at that place, and two journals with the same
link at a record are equal up to there.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing

from tres.store.records import DamagedError

_LINKS = (
    "SELECT records.seq, records.checksum, link, pages.checksum, "
    "coalesce(failures.checksum, postponed.checksum) FROM records "
    "LEFT JOIN pages ON pages.seq = records.seq LEFT JOIN failures ON failures.seq = records.seq "
    "LEFT JOIN postponed ON postponed.seq = records.seq "
    "WHERE records.seq > ? ORDER BY records.seq"
)


def checksum(seq: int, kind: str, seconds: float, body: bytes) -> int:
    """The checksum of one record."""
    return zlib.crc32(body, zlib.crc32(f"{seq} {kind} {seconds!r}".encode("utf-8", "replace")))


def linked(before: int, seq: int, record: int, page: int | None, failure: int | None) -> int:
    """The link of a record with these checksums, after the link of the record before."""
    return zlib.crc32(f"{seq} {record} {page} {failure}".encode(), before)


def link_at(connection: sqlite3.Connection, seq: int) -> int:
    """The link of a record."""
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
