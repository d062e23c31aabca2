"""Decompression of response bodies, within limits of size and of work.

A few kilobytes can decompress to gigabytes. They can also hold half a million empty frames: no byte
comes out, but each frame costs the decoder a turn. So there are limits for the bytes that come out
of each encoding, for the number of encodings, and for the parts (gzip members, zstd frames) of a
body. A body that ends too early gives what could be decompressed of it.

Scrapy would do this in the process that crawls. Here these are plain functions, for the process
that reads pages (`tres.engines.reading.child`), where the bytes of strangers belong.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import brotli  # type: ignore[import-untyped]

from tres.web.page import FailureKind

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPTED = "gzip, deflate, br, zstd"
"""The value of Accept-Encoding in requests."""
MAX_ENCODINGS = 2
MAX_PARTS = 100
"""Members of a gzip body or frames of a zstd one; servers send one."""


class DecompressError(Exception):
    """A body that cannot be decompressed, or not within the limits."""

    def __init__(self, kind: FailureKind, note: str) -> None:
        super().__init__(note)
        self.kind = kind


def content_encodings(headers: Iterable[str]) -> tuple[str, ...]:
    """The encodings in Content-Encoding headers, in the order in which they were applied."""
    names = (name.strip().lower() for header in headers for name in header.split(","))
    return tuple(name for name in names if name and name != "identity")


def decompress(
    body: bytes, encodings: Iterable[str], max_bytes: int, truncate: bool = False
) -> bytes:
    """Undo the encodings, the last one first, down to one that is unknown.

    More than `max_bytes` are a `DecompressError`, or are left out with `truncate`.
    """
    applied = list(encodings)
    if len(applied) > MAX_ENCODINGS:
        raise DecompressError(FailureKind.MALFORMED, f"compressed more than {MAX_ENCODINGS} times")
    while applied and (decode := _DECODERS.get(applied.pop())):
        try:
            body = decode(body, max_bytes + 1)
        except (zlib.error, brotli.error, zstd.ZstdError) as problem:
            note = "the body is not compressed as its header says"
            raise DecompressError(FailureKind.MALFORMED, note) from problem
        if len(body) > max_bytes and not truncate:
            note = "larger than live.max_bytes when unpacked"
            raise DecompressError(FailureKind.TOO_LARGE, note)
    return body[:max_bytes]


def _decode_parts(
    new_decoder: Callable[[], Any], magic: bytes, body: bytes, max_bytes: int
) -> bytes:
    """Decode all parts of a body; ignore what follows and does not begin like a part."""
    out: bytes = b""
    for _ in range(MAX_PARTS):
        decoder = new_decoder()
        try:
            out += decoder.decompress(body, max_length=max_bytes - len(out))
        except (zlib.error, zstd.ZstdError):
            if not out:
                raise
            return out
        body = decoder.unused_data
        if len(out) >= max_bytes or not body.startswith(magic) or not body:
            return out
    raise DecompressError(FailureKind.MALFORMED, f"compressed in more than {MAX_PARTS} parts")


def _deflate(body: bytes, max_bytes: int) -> bytes:
    """With the zlib header that the standard asks for, or without it, as some servers send it."""
    try:
        return zlib.decompressobj().decompress(body, max_bytes)
    except zlib.error:
        return zlib.decompressobj(wbits=-15).decompress(body, max_bytes)


def _brotli(body: bytes, max_bytes: int) -> bytes:
    decoder, out = brotli.Decompressor(), b""
    while (room := max_bytes - len(out)) > 0:
        if not (piece := decoder.process(body, output_buffer_limit=room)):
            break
        out, body = out + piece, b""
    return out


_gzip = partial(_decode_parts, partial(zlib.decompressobj, wbits=31), b"\x1f\x8b")
_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": partial(_decode_parts, zstd.ZstdDecompressor, b""),
}
