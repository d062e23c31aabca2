"""A megabyte of gzip that becomes a gigabyte."""

from __future__ import annotations

import asyncio

from tests.hostile.bombs import gzip_bomb
from tests.hostile.wire import Wire

EXPECT = "too-large"
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: gzip.*\r\n\r\n\x1f\x8b"


async def handle(wire: Wire) -> None:
    await wire.reply(await asyncio.to_thread(gzip_bomb), "Content-Encoding: gzip")
