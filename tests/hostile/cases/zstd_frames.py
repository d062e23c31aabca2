"""Half a million empty zstd frames in gzip: a few kilobytes, and nothing comes out of them."""

from __future__ import annotations

import gzip
from functools import cache

from tests.hostile.wire import Wire

EXPECT = "malformed"
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: zstd, gzip.*\r\n\r\n\x1f\x8b"


@cache
def body() -> bytes:
    return gzip.compress(bytes.fromhex("502a4d18 00000000") * 500_000)


async def handle(wire: Wire) -> None:
    await wire.reply(body(), "Content-Encoding: zstd, gzip")
