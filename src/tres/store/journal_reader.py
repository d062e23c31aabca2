"""Reading a journal: its entries, its plain tables, and what follows from a few of its records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from tres.store.high_water_mark import Extent, Required
from tres.store.journal_file import Meta, checksum, damage_named, link_at, links_after, warc_end_of
from tres.store.journal_records import (
    Begin,
    Blocked,
    DamagedError,
    Demanded,
    Entry,
    PageText,
    Seeds,
    decode,
    link_urls,
    names_url,
)
from tres.store.journal_tables import FAILURES_TABLE, POSTPONED_TABLE, PlainTable, Row, pages_table

_SELECT = "SELECT seq, kind, seconds, body, checksum FROM records"


class JournalReader:
    """What can be read from an open journal; `RunError` where it is damaged."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        meta: Meta,
        last: Extent,
        required: Required | None = None,
    ) -> None:
        self.path = path
        self.meta = meta
        self.required = required
        """How far it had to reach when it was opened, if it has a mark."""
        self._last = last
        self._connection = connection
        self._pages = pages_table(meta.features)

    @property
    def position(self) -> int:
        """Number of the last record."""
        return self._last.position

    def check(self, after: int = 0) -> None:
        """Check the chain of checksums after a record; the contents are not read."""
        with damage_named(self.path):
            before = link_at(self._connection, after) if after else self.meta.checksum
            for _ in links_after(self._connection, after, before):
                pass

    def verify(self) -> None:
        """Check everything, as required before a crawl continues."""
        self.check()
        begins = 0
        with damage_named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(f"{_SELECT} ORDER BY seq"):
                _refuse_changed(*row)
                begins += row[1] == "begin"
            if begins != len(self.segments()):
                raise DamagedError("its list of segments is not what was written")
            for table in (self._pages, FAILURES_TABLE, POSTPONED_TABLE):
                for _ in table.rows(self._connection):
                    pass

    def link(self, seq: int) -> int:
        """Return the checksum that stands for the whole journal up to a record."""
        with damage_named(self.path):
            return link_at(self._connection, seq)

    def entries(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """Iterate over the entries after a record, each with its number."""
        self.check(after)
        return self._entries("seq > ? ORDER BY seq", after)

    def entry(self, seq: int) -> Entry:
        """Return one entry by its number."""
        with damage_named(self.path):
            for _, entry in self._entries("seq = ?", seq):
                return entry
            raise DamagedError(f"record {seq} is missing")

    def naming(self, urls: Sequence[str], before: int | None = None) -> Iterator[tuple[int, Entry]]:
        """Iterate over the entries that name any of some URLs; only these are decoded.

        `before` ends the search at a record.
        """
        query = f"{_SELECT} WHERE seq < ? ORDER BY seq"
        end = self.position + 1 if before is None else before
        with damage_named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(query, (end,)):
                if names_url(row[3], urls):
                    yield row[0], _entry(*row)

    def demands(self) -> Iterator[tuple[int, Demanded]]:
        """Iterate over the choices of the crawl, each with the number of its record."""
        for seq, entry in self._entries("kind = 'demand' ORDER BY seq"):
            if isinstance(entry, Demanded):
                yield seq, entry

    def judge_of(self, seq: int) -> str:
        """Return the digest of the model that judged the page of a record."""
        with damage_named(self.path):
            where = "kind = 'begin' AND seq < ? ORDER BY seq DESC LIMIT 1"
            for _, begin in self._entries(where, seq):
                if isinstance(begin, Begin):
                    return begin.model
            raise DamagedError("it names no model")

    def seeds(self) -> Seeds:
        """The links that the crawl started from."""
        with damage_named(self.path):
            for _, seeds in self._entries("seq = 1"):
                if isinstance(seeds, Seeds):
                    return seeds
            raise DamagedError("it does not begin with seeds")

    def segments(self) -> list[Begin]:
        """Return the segments of the crawl (budgets and models), in order."""
        return [begin for _, begin in self.begins()]

    def begins(self) -> list[tuple[int, Begin]]:
        """Return the segments, each with the number of its record."""
        with damage_named(self.path):
            begins = list(self._entries("kind = 'begin' ORDER BY seq"))
            if not begins:
                raise DamagedError("it names no budget")
        return [(seq, begin) for seq, begin in begins if isinstance(begin, Begin)]

    def blocked(self) -> set[str]:
        """The sites that are blocked."""
        entries = self._entries("kind = 'blocked'")
        return {entry.site for _, entry in entries if isinstance(entry, Blocked)}

    def page_texts(self) -> dict[str, str]:
        """What pages say, by URL; of a page that was fetched again the last text counts."""
        entries = self._entries("kind = 'text' ORDER BY seq")
        return {entry.url: entry.content for _, entry in entries if isinstance(entry, PageText)}

    def pages(self) -> Iterator[Row]:
        """Iterate over the steps, by column name."""
        return (row for _, row in self.pages_after(0))

    def pages_after(self, seq: int) -> Iterator[tuple[int, Row]]:
        """Iterate over the steps after a record, each with its number."""
        return self._rows(self._pages, seq)

    def failures(self) -> Iterator[Row]:
        """Iterate over the failures, by column name."""
        return (row for _, row in self.failures_after(0))

    def failures_after(self, seq: int) -> Iterator[tuple[int, Row]]:
        """Iterate over the failures after a record, each with its number."""
        return self._rows(FAILURES_TABLE, seq)

    def postponed(self) -> Iterator[Row]:
        """Iterate over the attempts after which a URL went back to the frontier."""
        return (row for _, row in self._rows(POSTPONED_TABLE, 0))

    def resting(self) -> dict[str, float]:
        """Return the sites that must not be contacted yet, and until when."""
        return {row["rests"]: row["until"] for row in self.postponed() if row["rests"] is not None}

    def steps(self) -> int:
        """How many pages were fetched and judged."""
        with damage_named(self.path):
            (steps,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()
        return int(steps)

    def seconds(self) -> float:
        """How long the crawl had taken when its last record was written."""
        query = "SELECT seconds FROM records ORDER BY seq DESC LIMIT 1"
        with damage_named(self.path):
            row = self._connection.execute(query).fetchone()
            return 0.0 if row is None else float(row[0])

    def times_after(self, seq: int) -> Iterator[tuple[int, int, float]]:
        """Iterate over the steps after a record: record, step, seconds of crawling until then."""
        query = (
            "SELECT seq, step, records.seconds FROM pages JOIN records USING (seq) "
            "WHERE seq > ? ORDER BY seq"
        )
        with damage_named(self.path), closing(self._connection.cursor()) as cursor:
            yield from cursor.execute(query, (seq,))

    def warc_end(self, before: int | None = None) -> int:
        """Return where the last page ends in the archive; 0 if no page is kept.

        With `before`, the last page before that record.
        """
        with damage_named(self.path):
            return warc_end_of(self._connection, self.position + 1 if before is None else before)

    def exchange_of(self, seq: int) -> tuple[int, int] | None:
        """Return where the exchange of a page begins and ends in the archive, if it is kept."""
        query = "SELECT warc_end FROM pages WHERE seq = ?"
        with damage_named(self.path):
            row = self._connection.execute(query, (seq,)).fetchone()
        return None if row is None or row[0] is None else (self.warc_end(seq), int(row[0]))

    def exchanges(self) -> dict[int, tuple[int, int]]:
        """Return where each kept page begins and ends in the archive, by its record."""
        query = "SELECT seq, warc_end FROM pages WHERE warc_end IS NOT NULL ORDER BY seq"
        with damage_named(self.path):
            kept = [(int(seq), int(end)) for seq, end in self._connection.execute(query)]
        ends = accumulate((end for _, end in kept), max, initial=0)
        return {seq: (start, end) for (seq, end), start in zip(kept, ends, strict=False)}

    def links_and_fingerprints(self) -> Iterator[tuple[tuple[str, ...], int | None]]:
        """Iterate over the links and the fingerprint of every step."""
        query = (
            "SELECT seq, kind, records.seconds, body, records.checksum, fingerprint "
            "FROM records JOIN pages USING (seq) ORDER BY seq"
        )
        with damage_named(self.path), closing(self._connection.cursor()) as cursor:
            for *row, fingerprint in cursor.execute(query):
                _refuse_changed(*row)
                yield link_urls(row[3]), None if fingerprint is None else int(fingerprint, 16)

    def _entries(self, where: str, *values: int) -> Iterator[tuple[int, Entry]]:
        with damage_named(self.path), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(f"{_SELECT} WHERE {where}", values):
                yield row[0], _entry(*row)

    def _rows(self, table: PlainTable, after: int) -> Iterator[tuple[int, Row]]:
        self.check(after)
        with damage_named(self.path):
            yield from table.rows(self._connection, after)


def _refuse_changed(seq: int, kind: object, seconds: object, body: object, own: object) -> None:
    if not (isinstance(kind, str) and isinstance(seconds, float) and isinstance(body, bytes)):
        raise DamagedError(f"record {seq} has other types than a record")
    if own != checksum(seq, kind, seconds, body):
        raise DamagedError(f"record {seq} is not what was written")


def _entry(seq: int, kind: str, seconds: float, body: bytes, own: int) -> Entry:
    _refuse_changed(seq, kind, seconds, body, own)
    try:
        return decode(kind, body)
    except DamagedError as problem:
        raise DamagedError(f"record {seq}: {problem}") from None
