"""Copying pages of a WARC archive, record by record and byte for byte.

A page is its response and the records concurrent to it, as a rule the request. The `warcinfo`
record of every file from which a page is taken is copied as well.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from tres.files.opening import opened
from tres.offline import WarcArchive
from tres.offline.archive import archive_errors
from tres.offline.warc_reader import scan_records
from tres.store.warc_writer import gzip_members


class Head(NamedTuple):
    """Where a record begins, its id, and the ids of the records that it belongs to."""

    start: int
    names: frozenset[str]
    is_info: bool


def copy_pages(
    archive: WarcArchive,
    urls: Iterable[str],
    out: BinaryIO,
    advance: Callable[[], object] = lambda: None,
) -> int:
    """Copy the records of these pages to a `.warc.gz`; return how many pages were found."""
    chosen: dict[Path, set[int]] = {}
    for place in filter(None, map(archive.place, urls)):
        chosen.setdefault(place.file, set()).add(place.position)
    for file in archive.files:
        if file in chosen:
            _copy(file, chosen[file], out, advance)
    return sum(map(len, chosen.values()))


def _copy(file: Path, pages: set[int], out: BinaryIO, advance: Callable[[], object]) -> None:
    with archive_errors(file):
        heads, size = _heads(file), file.stat().st_size
    names = frozenset[str]().union(*(head.names for head in heads if head.start in pages))
    ends = [*(head.start for head in heads[1:]), size]
    for head, end in zip(heads, ends, strict=True):
        if head.is_info or head.names & names:
            out.write(_record(file, head.start, end))
        if head.start in pages:
            advance()


def _heads(file: Path) -> list[Head]:
    """All records of a file, in order."""
    heads: list[Head] = []
    # Damage was reported when the archive was opened; the rest is still being written.
    with suppress(OSError, EOFError), warnings.catch_warnings(action="ignore"):
        heads.extend(head for _, head in scan_records(file, _head))
    return heads


def _head(record: WarcRecord) -> Head:
    concurrent = record.headers.get_multiple("WARC-Concurrent-To")
    names = frozenset((record.headers["WARC-Record-ID"], *concurrent))
    return Head(record.stream_pos, names, record.record_type == WarcRecordType.warcinfo)


def _record(file: Path, start: int, end: int) -> bytes:
    """A record as a gzip member: that of the file, or a new one if the file is not compressed."""
    with archive_errors(file), opened(file) as stream:
        stream.seek(start)
        data = stream.read(end - start)
    if file.suffix != ".gz":
        return gzip.compress(data, mtime=0)
    return data[: next(gzip_members(data), 0)]  # the last one of a file may be incomplete
