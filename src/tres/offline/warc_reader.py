"""Reading the records of a WARC file: all of them in order, or one by its place.

fastwarc reads records one after the other and stops where no record begins: after a record with a
wrong length, or at damaged bytes. `scan_records` then looks for the next beginning of a record (in
`.warc.gz`, of a gzip member that contains one), and a warning says what was skipped. If no intact
record follows, the file is cut short, and the caller decides what that means.

fastwarc also takes the end of the file for the end of a record, so this module checks that records
are complete: one before damaged bytes is intact if it ends where its length says. Bodies are
decompressed up to a limit.
"""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeVar

from fastwarc.warc import ArchiveIterator, WarcRecord

from tres.errors import ArchiveError, printable
from tres.files.opening import GZIP_MAGIC, opened
from tres.offline.archive import ArchiveWarning, archive_errors

MAX_BODY_BYTES = 5_000_000

T = TypeVar("T")
Decoding = Literal["all", "transfer", "none"]

_GZIP = 16 + zlib.MAX_WBITS
_OLDER = {"deflate": -zlib.MAX_WBITS, "x-gzip": _GZIP}
"""Deflate without its wrapper, which browsers accept, and another name for gzip."""
_MEMBER, _VERSION, _END = GZIP_MAGIC + b"\x08", b"WARC/1.", b"\r\n\r\n"
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CHUNK = 1 << 20
_PIECE = 1 << 14
"""Compressed bytes decompressed at once; they may become a thousand times as many."""
_HEAD = 512
"""Bytes of a gzip member that are enough to read its first letters."""


class Place(NamedTuple):
    """Where a record begins."""

    file: Path
    position: int


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
            _check_whole(record)
            last = begin, seen
    except (EOFError, OSError):
        onward = _next_record(stream, begin + 1, file.suffix == ".gz")
        if last is not None and _has_its_length(stream, begin, onward):
            yield last
        if onward is None:
            raise
        text = f"{file}: damaged between bytes {begin:,} and {onward:,}; the rest is read"
        warnings.warn(printable(text), ArchiveWarning, stacklevel=2)
        return onward
    if last is not None:
        yield last
    return None


def _check_whole(record: WarcRecord) -> None:
    """Raise `EOFError` if a record is cut short."""
    if "Content-Length" not in record.headers or record.reader.consume() < record.content_length:
        raise EOFError


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


def check_members(stream: BinaryIO, starts: list[int], file: Path) -> None:
    """Raise unless every record begins with a gzip member and the last one is complete."""
    for start in starts:
        stream.seek(start)
        if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
            raise ArchiveError(
                f"{file}: is compressed as a whole, so pages cannot be read one by "
                f"one; run `warcio recompress {file.name} NEW.warc.gz` and use that"
            )
    stream.seek(starts[-1] if starts else 0)
    with gzip.open(stream) as members:
        while members.read(_CHUNK):
            pass


def is_whole(stream: BinaryIO, starts: list[int]) -> bool:
    """Return whether the file ends with a complete gzip member; then any error means damage."""
    stream.seek(starts[-1] if starts else 0)
    member, rest = zlib.decompressobj(_GZIP), b""
    while data := rest or stream.read(_PIECE):
        if member.eof:
            member = zlib.decompressobj(_GZIP)
        member.decompress(data)
        rest = member.unused_data
    return member.eof


def read_record(place: Place, decoding: Decoding, limit: int) -> tuple[WarcRecord, bytes] | None:
    """Return the record at a place and the start of its body, if it can be decoded in this way."""
    with archive_errors(place.file), opened(place.file) as file:
        file.seek(place.position)
        try:
            for record in ArchiveIterator(file, auto_decode=decoding):
                return record, record.reader.read(limit)
        except OSError:
            pass
    return None


def body_of(place: Place) -> tuple[str | None, bytes | None]:
    """Return charset and body; the body as it is if it is not encoded as its headers say."""
    if read := read_record(place, "all", MAX_BODY_BYTES + 1):
        return read[0].http_charset, read[1]
    if read := read_record(place, "none", MAX_BODY_BYTES + 1):
        return read[0].http_charset, _unpacked(*read)
    return None, None


def _unpacked(record: WarcRecord, body: bytes) -> bytes:
    """Decode two older encodings, which fastwarc does not know."""
    encoding = (record.http_headers.get("Content-Encoding") or "").strip().lower()
    try:
        unpacking = zlib.decompressobj(_OLDER[encoding])
        return unpacking.decompress(body, MAX_BODY_BYTES + 1)
    except (KeyError, zlib.error):
        return body
