"""The plain tables of a journal: what people and reports read of a crawl.

`pages` has a line per step, `failures` one per URL that gave no page, `postponed` one per attempt
after which a URL went back to wait: what the session told
of it and how the fetch went (empty where nothing was fetched, as from an archive); for a page
also what the choice was preferred to (`rivals`, as JSON) and its features, a column each.
Every line carries a checksum over all of it.
"""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tres.crawl.events import FetchFailed, Postponed, Stepped
from tres.engines.protocols import Fetched
from tres.store.records import DamagedError

PAGE_COLUMNS = {
    "step": "INTEGER NOT NULL",
    "url": "TEXT NOT NULL",
    "parent": "TEXT",
    "relevance": "REAL",
    "reward": "INTEGER NOT NULL",
    "q": "REAL",
    "leaf": "INTEGER",
    "explored": "INTEGER NOT NULL",
    "site": "TEXT NOT NULL",
    "language": "TEXT NOT NULL",
    "asked": "TEXT NOT NULL",
    "frontier": "INTEGER NOT NULL",
    "leaves": "INTEGER NOT NULL",
    "candidates": "INTEGER NOT NULL",
    "rivals": "TEXT NOT NULL",
}
FAILURE_COLUMNS = {
    "url": "TEXT NOT NULL",
    "kind": "TEXT NOT NULL",
    "is_seed": "INTEGER NOT NULL",
}
POSTPONED_COLUMNS = FAILURE_COLUMNS | {"rests": "TEXT", "until": "REAL"}
FETCH_COLUMNS = {
    "at": "REAL",
    "seconds": "REAL",
    "status": "INTEGER",
    "size": "INTEGER",
    "title": "TEXT",
    "note": "TEXT",
    "fingerprint": "TEXT",
    "warc_end": "INTEGER",
}

MOST = 2**63 - 1
"""The largest whole number that SQLite holds: a server may claim any."""

Value = str | int | float | None
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table whose lines are numbered like the records they belong to."""

    name: str
    columns: dict[str, str]

    @property
    def creation(self) -> str:
        """The statement that makes it."""
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in self.columns.items())
        return (
            f"CREATE TABLE {self.name} (seq INTEGER PRIMARY KEY, {columns}, "
            "checksum INTEGER NOT NULL)"
        )

    def add(self, connection: sqlite3.Connection, seq: int, values: Iterable[Value]) -> int:
        """One line more; gives its checksum."""
        kept = [_storable(value) for value in values]
        places = ", ".join("?" * (len(self.columns) + 2))
        statement = f"INSERT INTO {self.name} VALUES ({places})"
        checksum = _checksum(kept)
        connection.execute(statement, (seq, *kept, checksum))
        return checksum

    def rows(self, connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, Row]]:
        """Lines in order with their numbers, from the one behind `after` on.

        A line goes by the names of its columns; `DamagedError` at the first bad one.
        """
        names = ", ".join(map(quoted, self.columns))
        query = f"SELECT seq, {names}, checksum FROM {self.name} WHERE seq > ? ORDER BY seq"
        with closing(connection.cursor()) as cursor:
            for seq, *values, checksum in cursor.execute(query, (after,)):
                if checksum != _checksum(values):
                    raise DamagedError(f"line {seq} of {self.name} is not what was written")
                yield seq, dict(zip(self.columns, values, strict=True))


def pages_table(features: Sequence[str]) -> PlainTable:
    """The table of steps, for choices with these features."""
    return PlainTable("pages", PAGE_COLUMNS | FETCH_COLUMNS | dict.fromkeys(features, "REAL"))


FAILURES_TABLE = PlainTable("failures", FAILURE_COLUMNS | FETCH_COLUMNS)
POSTPONED_TABLE = PlainTable("postponed", POSTPONED_COLUMNS | FETCH_COLUMNS)


def step_values(
    step: Stepped, asked: str, fetched: Fetched | None, warc_end: int | None
) -> Iterator[Value]:
    """A step as a line of `pages`."""
    yield step.step
    yield _text(step.url)
    yield None if step.parent is None else _text(step.parent)
    yield step.relevance
    yield int(step.relevant)
    yield step.q
    yield None if step.leaf < 0 else step.leaf
    yield int(step.explored)
    yield _text(step.site)
    yield _text(step.language)
    yield _text(asked)
    yield step.frontier
    yield step.leaves
    yield step.candidates
    yield json.dumps(step.rivals)
    yield from _facts(fetched, warc_end)
    yield from step.features.values()


def failure_values(failed: FetchFailed, fetched: Fetched | None) -> Iterator[Value]:
    """A failure as a line of `failures`."""
    yield _text(failed.url)
    yield str(failed.kind)
    yield int(failed.is_seed)
    yield from _facts(fetched, None)


def postponed_values(postponed: Postponed, fetched: Fetched | None) -> Iterator[Value]:
    """An attempt after which a URL went back to wait, as a line of `postponed`."""
    yield _text(postponed.url)
    yield str(postponed.kind)
    yield int(postponed.is_seed)
    yield from (None, None) if fetched is None or fetched.rests is None else fetched.rests
    yield from _facts(fetched, None)


def _facts(fetched: Fetched | None, warc_end: int | None) -> list[Value]:
    if fetched is None:
        return [None] * len(FETCH_COLUMNS)
    return [
        float(fetched.at),
        float(fetched.seconds),
        fetched.status,
        fetched.size,
        _text(fetched.title),
        _text(fetched.note),
        None if fetched.fingerprint is None else f"{fetched.fingerprint:064x}",
        warc_end,
    ]


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    """Text as a database can hold it; the records have every string as it was."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _storable(value: Value) -> Value:
    """SQLite knows no NaN, no negative zero, and no whole number beyond 64 bits."""
    if isinstance(value, int):
        return min(max(value, -MOST - 1), MOST)
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else value + 0.0


def _checksum(values: Sequence[Value]) -> int:
    return zlib.crc32(repr(tuple(values)).encode("utf-8", "replace"))
