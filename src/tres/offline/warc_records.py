"""Single records of a WARC file: checks that they are complete, and their bodies.

fastwarc takes the end of the file for the end of a record, so this module checks that records are
complete. Bodies are decompressed up to a limit.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord

from tres.errors import ArchiveError
from tres.files.opening import opened
from tres.offline.archive import GZIP_MAGIC, archive_errors

MAX_BODY_BYTES = 5_000_000

_DECODE: tuple[Literal["all", "none"], ...] = ("all", "none")
_CHUNK = 1 << 20
_PIECE = 1 << 14
"""Compressed bytes decompressed at once; they may become a thousand times as many."""

_GZIP = 16 + zlib.MAX_WBITS
_OLDER = {"deflate": -zlib.MAX_WBITS, "x-gzip": _GZIP}
"""Deflate without its wrapper, which browsers accept, and another name for gzip."""


class Place(NamedTuple):
    """Where a record begins."""

    file: Path
    position: int


def check_whole(record: WarcRecord) -> None:
    """Raise `EOFError` if a record is cut short."""
    if "Content-Length" not in record.headers or record.reader.consume() < record.content_length:
        raise EOFError


def check_members(stream: BinaryIO, starts: list[int], file: Path) -> None:
    """Raise unless every record begins with a gzip member and the last one is complete."""
    for start in starts:
        stream.seek(start)
        if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
            raise ArchiveError(
                f"{file}: is compressed as a whole, so pages cannot be read one by "
                f"one; run `warcio recompress {file.name} NEW.warc.gz` and use that"
            )
    _read_to_end(stream, starts)


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


def _read_to_end(file: BinaryIO, starts: list[int]) -> None:
    """Decompress from the last record on; raise if it is cut short or followed by other data."""
    file.seek(starts[-1] if starts else 0)
    with gzip.open(file) as members:
        while members.read(_CHUNK):
            pass


def body_of(place: Place) -> tuple[str | None, bytes | None]:
    """Return charset and body; the body as it is if it is not encoded as its headers say."""
    with archive_errors(place.file), opened(place.file) as file:
        for decode in _DECODE:
            file.seek(place.position)
            try:
                record = next(iter(ArchiveIterator(file, auto_decode=decode)))
                return record.http_charset, _unpacked(record, decode)
            except OSError:
                continue
    return None, None


def _unpacked(record: WarcRecord, decode: str) -> bytes:
    """Return the body; fastwarc does not decode two older encodings."""
    body: bytes = record.reader.read(MAX_BODY_BYTES + 1)
    encoding = (record.http_headers.get("Content-Encoding") or "").strip().lower()
    if decode == "all" or encoding not in _OLDER:
        return body
    unpacking = zlib.decompressobj(_OLDER[encoding])
    try:
        return unpacking.decompress(body, MAX_BODY_BYTES + 1)
    except zlib.error:
        return body
