"""Scan the records of a WARC file, and skip those that are damaged.

fastwarc reads records one after the other and stops where no record begins: after a record with a
wrong length, or at damaged bytes. The scan then looks for the next beginning of a record (in
`.warc.gz`, of a gzip member that contains one), and a warning says what was skipped. If no intact
record follows, the file is cut short, and the caller decides what that means.

The record before the damage is intact if it ends where its length says.
"""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from fastwarc.warc import ArchiveIterator, WarcRecord

from tres.errors import printable
from tres.files.opening import opened
from tres.offline.archive import GZIP_MAGIC, ArchiveWarning
from tres.offline.warc_records import check_whole

T = TypeVar("T")

_GZIP = 16 + zlib.MAX_WBITS
_MEMBER, _VERSION = GZIP_MAGIC + b"\x08", b"WARC/1."
_CHUNK = 1 << 20
_HEAD = 512
"""Bytes of a gzip member that are enough to read its first letters."""
_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def scan_records(file: Path, look: Callable[[WarcRecord], T]) -> Iterator[tuple[int, T]]:
    """Yield where each intact record of a file begins, and what `look` returns for it.

    If the rest of the file cannot be read, raise the error after the last intact record.
    """
    at: int | None = 0
    with opened(file) as stream:
        while at is not None:
            at = yield from _stretch(file, stream, at, look)


def _stretch(
    file: Path, stream: BinaryIO, at: int, look: Callable[[WarcRecord], T]
) -> Generator[tuple[int, T], None, int | None]:
    """Yield the records up to the first damage; return where to continue after it."""
    last: tuple[int, T] | None = None
    begin = at
    stream.seek(at)
    try:
        for record in ArchiveIterator(stream, parse_http=False):
            if last is not None:
                yield last
            last, begin = None, record.stream_pos
            seen = look(record)
            check_whole(record)
            last = begin, seen
    except (EOFError, OSError):
        onward = _next_record(stream, begin + 1, file.suffix == ".gz")
        if last is not None and _has_its_length(stream, begin, onward):
            yield last
        if onward is None:
            raise
        _warn(file, begin, onward)
        return onward
    if last is not None:
        yield last
    return None


def _next_record(stream: BinaryIO, start: int, packed: bool) -> int | None:
    """Return the first offset from `start` on where a record begins."""
    sign, kept = _MEMBER if packed else _VERSION, b""
    stream.seek(start)
    while chunk := stream.read(_CHUNK):
        data = kept + chunk
        found = data.find(sign)
        while found >= 0:
            if _opens(stream, start + found, packed):
                return start + found
            found = data.find(sign, found + 1)
        kept = data[-len(sign) + 1 :]
        start += len(data) - len(kept)
        stream.seek(start + len(kept))
    return None


def _opens(stream: BinaryIO, place: int, packed: bool) -> bool:
    """Return whether a record begins here; in plain files, its version begins a line."""
    stream.seek(place if packed else max(place - 1, 0))
    head = stream.read(_HEAD)
    if not packed:
        return head.startswith(b"\n" + _VERSION)
    try:
        return zlib.decompressobj(_GZIP).decompress(head, len(_VERSION)) == _VERSION
    except zlib.error:
        return False


def _has_its_length(stream: BinaryIO, begin: int, end: int | None) -> bool:
    """Return whether a record ends where its head says, if the next one begins at `end`."""
    stream.seek(begin)
    data = stream.read() if end is None else stream.read(end - begin)
    if data.startswith(_MEMBER):
        member = zlib.decompressobj(_GZIP)
        try:
            data = member.decompress(data)
        except zlib.error:
            return False
        if not member.eof:
            return False
    head, _, content = data.partition(_END)
    claimed = _LENGTH.search(head)
    return claimed is not None and content[int(claimed[1]) :].startswith(_END)


def _warn(file: Path, begin: int, end: int) -> None:
    text = f"{file}: damaged between bytes {begin:,} and {end:,}; the rest is read"
    warnings.warn(printable(text), ArchiveWarning, stacklevel=2)
