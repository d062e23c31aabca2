"""Exporting pages of a run, in the format that the next tool reads.

The rows of a run are kept in memory, the pages are not: they are read one by one from the web of
the run (`tres.store.page_source`). A page that is no longer there keeps its row, without title,
text and links, and is counted. The content of pages is data only: a cell that a spreadsheet would
take for a formula is quoted, and no character of a page can end a line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tres.crawl.page_record import EXPORTED, FIELDS, JUDGED, TYPES
from tres.errors import RunError
from tres.files.durable import atomic_replace
from tres.offline import WarcArchive, Web
from tres.store.export_parquet import require_pyarrow, write_parquet
from tres.store.export_warc import copy_pages
from tres.store.page_source import web_of
from tres.store.run_results import read_pages
from tres.web.page import Page


class Format(NamedTuple):
    """How a format is served and named; `export` writes it."""

    content_type: str
    suffix: str
    binary: bool = False


FORMATS = {
    # one object per page with title, text and links: an offline web that tres can crawl
    "jsonl": Format("application/jsonl", "jsonl"),
    # the rows of pages.csv, and who judged
    "csv": Format("text/csv; charset=utf-8", "csv"),
    # the same as jsonl, as a table with types
    "parquet": Format("application/vnd.apache.parquet", "parquet", binary=True),
    # what the servers sent, record by record (`tres.store.export_warc`)
    "warc": Format("application/warc", "warc.gz", binary=True),
    # one URL per line
    "urls": Format("text/plain; charset=utf-8", "txt"),
}
BINARY = frozenset(name for name, form in FORMATS.items() if form.binary)

Row = dict[str, str]
Advance = Callable[[], object]

_LINE_ENDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages to export; by default all of them."""

    relevant: bool = False
    min_relevance: float = 0.0
    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    limit: int | None = None

    def of(self, rows: Iterable[Row]) -> list[Row]:
        """Return the selected rows, in the order of the crawl."""
        return list(islice(filter(self._fits, rows), self.limit))

    def _fits(self, row: Row) -> bool:
        return (
            (not self.relevant or row["relevant"] == "1")
            and float(row["relevance"]) >= self.min_relevance
            and (not self.sites or row["site"] in self.sites)
            and (not self.languages or row["language"] in self.languages)
        )


@dataclass(frozen=True, slots=True)
class Exported:
    """How many pages were written, and how many of them without content (in WARC: left out)."""

    pages: int
    missing: int = 0


def export(
    run: Path,
    form: str,
    out: BinaryIO,
    selection: Selection | None = None,
    web: str | None = None,
    advance: Advance = lambda: None,
) -> Exported:
    """Write the selected pages of a run; `advance` is called after each page that was read."""
    if form == "parquet":
        require_pyarrow()
    every = read_pages(run)
    rows = (selection or Selection()).of(every)
    match form:
        case "urls":
            out.writelines(f"{row['url']}\n".encode() for row in rows)
        case "csv":
            out.writelines(_csv(every[0] if every else (), rows))
        case "warc":
            copied = copy_pages(_archive(run, web), (row["url"] for row in rows), out, advance)
            return Exported(copied, len(rows) - copied)
        case _:
            records = PageRecords(rows, web_of(run, web), advance)
            write_parquet(records, out) if form == "parquet" else _write_json(records, out)
            return Exported(len(rows), records.missing)
    return Exported(len(rows))


class PageRecords:
    """The exported records of some rows, page by page."""

    def __init__(self, rows: Iterable[Row], web: Web | None, advance: Advance) -> None:
        self._rows = rows
        self._web = web
        self._advance = advance
        self.missing = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            page = self._web.fetch(row["url"]) if self._web is not None else None
            self.missing += not isinstance(page, Page)
            yield {"url": row["url"], **_content(page), **_fields(row)}
            self._advance()


def _content(page: object) -> dict[str, Any]:
    if not isinstance(page, Page):
        return {}
    links = [[link.url, link.anchor] for link in page.links]
    labels = {"labels": list(page.labels)} if page.labels else {}
    return {"title": page.title, "text": page.text, "links": links, **labels}


def _fields(row: Row) -> dict[str, Any]:
    """The exported fields of a page's row, as typed values."""
    return {name: _typed(name, row[name]) for name in EXPORTED}


def _typed(name: str, cell: str) -> Any:
    if name in JUDGED:
        return JUDGED[name](cell)
    if TYPES[name] is bool:
        return cell == "1"
    is_unknown = not cell and FIELDS[name].type is not str
    return None if is_unknown else TYPES[name](cell)


def _write_json(records: Iterable[dict[str, Any]], out: BinaryIO) -> None:
    """Write one line per page; characters that some programs take for a line end are escaped."""
    for record in records:
        line = json.dumps(record, ensure_ascii=False)
        line = _LINE_ENDS.sub(lambda char: f"\\u{ord(char[0]):04x}", line)
        out.write(f"{line}\n".encode())


def _csv(header: Iterable[str], rows: Iterable[Row]) -> Iterator[bytes]:
    for cells in chain([header], (row.values() for row in rows)):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(map(_cell, cells))
        yield line.getvalue().encode()


def _cell(value: str) -> str:
    """Text that stays text in a spreadsheet; numbers, negative ones too, stay numbers."""
    value = _LINE_ENDS.sub(" ", value)
    return f"'{value}" if value.startswith(_FORMULA) and not _is_number(value) else value


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _archive(run: Path, address: str | None) -> WarcArchive:
    web = web_of(run, address)
    if not isinstance(web, WarcArchive):
        raise RunError(f"{run}: was not crawled live and kept no WARC files; use --to jsonl")
    return web


@contextmanager
def new_file(path: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """Yield a file that appears under its name when it is complete."""
    if path.exists() and not path.is_file():
        raise RunError(f"{path}: is not a file; name another --out, or '-' for standard output")
    if path.exists() and not overwrite:
        raise RunError(f"{path}: exists already; name another --out, or add --overwrite")
    try:
        with atomic_replace(path, durable=False) as unfinished, unfinished.open("wb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"{path}: cannot be written ({reason}); name another --out") from error
