"""Pages as a Parquet table: typed columns, zstd, written in groups of rows that fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, BinaryIO

from tres.crawl.page_record import EXPORTED, JUDGED, TYPES
from tres.distribution import pip_install
from tres.errors import RunError

GROUP_ROWS = 1_000
GROUP_CHARS = 5_000_000


def require_pyarrow() -> None:
    """Raise an error that says how to install pyarrow, if it is missing."""
    if find_spec("pyarrow") is None:
        raise RunError(
            f"--to parquet needs pyarrow, which is not installed: {pip_install('parquet')}"
        )


def write_parquet(records: Iterable[dict[str, Any]], out: BinaryIO) -> None:
    """Write pages as one table; unknown values are null."""
    import pyarrow
    from pyarrow import parquet

    schema = _schema()
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for group in _groups(map(_row, records)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))


def _schema() -> Any:
    import pyarrow as pa

    types = TYPES | JUDGED
    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    link = pa.struct([("url", pa.string()), ("anchor", pa.string())])
    return pa.schema(
        [
            pa.field("url", pa.string(), nullable=False),
            ("title", pa.string()),
            ("text", pa.string()),
            ("links", pa.list_(link)),
            ("labels", pa.list_(pa.string())),
            *((name, kinds[types[name]]) for name in EXPORTED),
        ]
    )


def _row(record: dict[str, Any]) -> dict[str, Any]:
    if "links" not in record:
        return record
    return record | {"links": [{"url": url, "anchor": anchor} for url, anchor in record["links"]]}


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    chars = 0
    for row in rows:
        group.append(row)
        chars += len(row.get("text", ""))
        if len(group) >= GROUP_ROWS or chars >= GROUP_CHARS:
            yield group
            group, chars = [], 0
    if group:
        yield group
