"""The plain tables of a journal, for people and reports.

`pages` has a row per step, `failures` one per URL that gave no page, `postponed` one per attempt
after which a URL went back to the frontier. The columns of `pages` are the fields of
`tres.crawl.page_record.PageRecord`, the links that the choice was preferred to (`rivals`, as JSON)
and the features of the choice. All three tables tell how the fetch went; those columns are NULL
where nothing was fetched, as from an archive. Every row carries a checksum over all of it.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from functools import cached_property
from math import isnan
from typing import Any

from msgspec.structs import FieldInfo

from tres.crawl.events import FetchFailed, Postponed, Stepped
from tres.crawl.page_record import FIELDS, TYPES
from tres.engines.protocols import Fetched
from tres.store.journal_records import DamagedError

MOST = 2**63 - 1
"""The largest integer that SQLite holds; a server may claim any size or status."""

Value = str | int | float | None
Row = dict[str, Any]


def sql_columns(fields: Iterable[FieldInfo]) -> dict[str, str]:
    """Return the columns for these fields of a record, by name, with their SQL types.

    NULL stands for NaN, which SQLite cannot store, and for what is unknown: a field with a default,
    or one that may be None.
    """
    return {field.encode_name: _sql_type(field) for field in fields}


def _sql_type(field: FieldInfo) -> str:
    kind = TYPES[field.name]
    is_nullable = field.type != kind or not field.required or kind is float
    return _SQL_TYPES[kind] if is_nullable else f"{_SQL_TYPES[kind]} NOT NULL"


_SQL_TYPES = {str: "TEXT", bool: "INTEGER", int: "INTEGER", float: "REAL"}
_OF_FETCH = {field.name for field in dataclass_fields(Fetched)}
STEP_FIELDS = [field for field in FIELDS.values() if field.name not in _OF_FETCH]
FETCH_FIELDS = [field for field in FIELDS.values() if field.name in _OF_FETCH]

FETCH_COLUMNS = sql_columns(FETCH_FIELDS) | {"fingerprint": "TEXT", "warc_end": "INTEGER"}
"""The last two are only read when a crawl is resumed."""
PAGE_COLUMNS = sql_columns(STEP_FIELDS) | {"rivals": "TEXT NOT NULL"}
FAILURE_COLUMNS = {
    "url": "TEXT NOT NULL",
    "kind": "TEXT NOT NULL",
    "is_seed": "INTEGER NOT NULL",
}
POSTPONED_COLUMNS = FAILURE_COLUMNS | {"rests": "TEXT", "until": "REAL"}


@dataclass(frozen=True)
class PlainTable:
    """A table whose rows are numbered like the records they belong to."""

    name: str
    columns: dict[str, str]

    @property
    def creation(self) -> str:
        """The statement that creates the table."""
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in self.columns.items())
        return (
            f"CREATE TABLE {self.name} (seq INTEGER PRIMARY KEY, {columns}, "
            "checksum INTEGER NOT NULL)"
        )

    @cached_property
    def _insert(self) -> tuple[str, list[Callable[[Any], Value]]]:
        places = ", ".join("?" * (len(self.columns) + 2))
        stored = [_STORED[kind.partition(" ")[0]] for kind in self.columns.values()]
        return f"INSERT INTO {self.name} VALUES ({places})", stored

    def add(self, connection: sqlite3.Connection, seq: int, values: Iterable[Any]) -> int:
        """Append a row and return its checksum."""
        statement, stored = self._insert
        row = [
            None if value is None else convert(value)
            for convert, value in zip(stored, values, strict=True)
        ]
        checksum = _checksum(row)
        connection.execute(statement, (seq, *row, checksum))
        return checksum

    def rows(self, connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, Row]]:
        """Iterate over the rows after a record, each with its number and by column name.

        `DamagedError` at the first row that differs from what was written.
        """
        names = ", ".join(map(quoted, self.columns))
        query = f"SELECT seq, {names}, checksum FROM {self.name} WHERE seq > ? ORDER BY seq"
        with closing(connection.cursor()) as cursor:
            for seq, *values, checksum in cursor.execute(query, (after,)):
                if checksum != _checksum(values):
                    raise DamagedError(f"row {seq} of {self.name} is not what was written")
                yield seq, dict(zip(self.columns, values, strict=True))


def pages_table(features: Sequence[str]) -> PlainTable:
    """The table of steps, for choices with these features."""
    return PlainTable("pages", PAGE_COLUMNS | FETCH_COLUMNS | dict.fromkeys(features, "REAL"))


FAILURES_TABLE = PlainTable("failures", FAILURE_COLUMNS | FETCH_COLUMNS)
POSTPONED_TABLE = PlainTable("postponed", POSTPONED_COLUMNS | FETCH_COLUMNS)


def step_values(step: Stepped, fetched: Fetched | None, warc_end: int | None) -> list[Any]:
    """Return a step as a row of `pages`."""
    known = [getattr(step, field.name) for field in STEP_FIELDS]
    rivals = json.dumps(step.rivals)
    return [*known, rivals, *_fetch_values(fetched, warc_end), *step.features.values()]


def failure_values(failed: FetchFailed, fetched: Fetched | None) -> list[Any]:
    """Return a failure as a row of `failures`."""
    return [failed.url, str(failed.kind), failed.is_seed, *_fetch_values(fetched)]


def postponed_values(postponed: Postponed, fetched: Fetched | None) -> list[Any]:
    """Return a postponed URL as a row of `postponed`."""
    backoff = None if fetched is None else fetched.backs_off_until
    known = [postponed.url, str(postponed.kind), postponed.is_seed, *(backoff or (None, None))]
    return [*known, *_fetch_values(fetched)]


def _fetch_values(fetched: Fetched | None, warc_end: int | None = None) -> list[Any]:
    if fetched is None:
        return [None] * len(FETCH_COLUMNS)
    known = [getattr(fetched, field.name) for field in FETCH_FIELDS]
    mark = fetched.fingerprint
    return [*known, None if mark is None else f"{mark:064x}", warc_end]


def quoted(name: str) -> str:
    """Return a name quoted for SQL, whatever characters it contains."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """Text as SQLite can hold it; the records have every string as it was."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _integer(value: int) -> int:
    return int(value) if -MOST <= value <= MOST else min(max(value, -MOST - 1), MOST)


def _real(value: float) -> float | None:
    """SQLite knows neither NaN nor negative zero."""
    return None if isnan(value) else value + 0.0


_STORED: dict[str, Callable[[Any], Value]] = {"TEXT": _text, "INTEGER": _integer, "REAL": _real}


def _checksum(values: Sequence[Value]) -> int:
    return zlib.crc32(repr(tuple(values)).encode("utf-8", "replace"))
