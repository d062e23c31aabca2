"""Bodies without the compression they were sent in, within limits of size and of work.

A few kilobytes can unpack to gigabytes. They can also unpack to half a million frames that hold
nothing: no byte comes out, but each frame costs the decoder a turn. So there are limits for the
bytes that come out of each layer, for the layers, and for the parts (gzip members, zstd frames)
that a layer is made of. A body that ends too early gives what could be unpacked of it.

Scrapy would do this in the process that crawls. Here it is plain functions, for the process that
reads pages (`tres.engines.reading.child`), where strangers' bytes belong.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable
from typing import Protocol

import brotli  # type: ignore[import-untyped]

from tres.web.page import FailureKind

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPTED = "gzip, deflate, br, zstd"
"""What servers are told that they may send (Accept-Encoding)."""
MAX_LAYERS = 2
MAX_PARTS = 100
"""Members of a gzip body or frames of a zstd one; servers send one."""
_MEMBER = b"\x1f\x8b"


class UnpackError(Exception):
    """A body that cannot be unpacked, or not within the limits."""

    def __init__(self, kind: FailureKind, note: str) -> None:
        super().__init__(note)
        self.kind = kind


class _Decoder(Protocol):
    """One part of a layer; the decoders of zlib and zstd look like this."""

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /, max_length: int) -> bytes: ...


def layers(content_encoding: Iterable[str]) -> tuple[str, ...]:
    """The encodings that Content-Encoding headers list, in the order they were applied."""
    names = (name.strip().lower() for header in content_encoding for name in header.split(","))
    return tuple(name for name in names if name and name != "identity")


def unpacked(body: bytes, encodings: Iterable[str], most: int, cut: bool = False) -> bytes:
    """The body without its layers, the last first, down to one that nobody knows.

    More than `most` bytes are an `UnpackError`, or with `cut` are left out.
    """
    applied = list(encodings)
    if len(applied) > MAX_LAYERS:
        raise UnpackError(FailureKind.MALFORMED, f"compressed more than {MAX_LAYERS} times")
    while applied and (decode := _DECODERS.get(applied.pop())):
        try:
            body = decode(body, most + 1)
        except (zlib.error, brotli.error, zstd.ZstdError) as problem:
            note = "the body is not compressed as its header says"
            raise UnpackError(FailureKind.MALFORMED, note) from problem
        if len(body) > most and not cut:
            note = "larger than live.max_bytes when unpacked"
            raise UnpackError(FailureKind.TOO_LARGE, note)
    return body[:most]


def _in_parts(body: bytes, most: int, new: Callable[[], _Decoder], start: bytes = b"") -> bytes:
    """All parts of a body. What follows the last one and does not begin as a part is ignored."""
    out = b""
    for _ in range(MAX_PARTS):
        decoder = new()
        try:
            out += decoder.decompress(body, max_length=most - len(out))
        except (zlib.error, zstd.ZstdError):
            if not out:
                raise
            return out
        body = decoder.unused_data
        if len(out) >= most or not body.startswith(start) or not body:
            return out
    raise UnpackError(FailureKind.MALFORMED, f"compressed in more than {MAX_PARTS} parts")


def _gunzipped(body: bytes, most: int) -> bytes:
    return _in_parts(body, most, lambda: zlib.decompressobj(wbits=31), _MEMBER)


def _inflated(body: bytes, most: int) -> bytes:
    """With the header that the standard asks for, or without it, as some servers send it."""
    try:
        return zlib.decompressobj().decompress(body, most)
    except zlib.error:
        return zlib.decompressobj(wbits=-15).decompress(body, most)


def _unbrotlied(body: bytes, most: int) -> bytes:
    decoder = brotli.Decompressor()
    out = b""
    while len(out) < most and (piece := decoder.process(body, output_buffer_limit=most - len(out))):
        out, body = out + piece, b""
    return out


def _unzstd(body: bytes, most: int) -> bytes:
    return _in_parts(body, most, zstd.ZstdDecompressor)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstd,
}
