"""A gigabyte as brotli; without the library, a body that is no brotli."""

from __future__ import annotations

import asyncio

from tests.hostile.bombs import brotli_bomb
from tests.hostile.wire import Wire

EXPECT = ("too-large", "malformed", "unreadable")
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: br\r\n"


async def handle(wire: Wire) -> None:
    bomb = await asyncio.to_thread(brotli_bomb)
    await wire.reply(bomb or bytes(1000), "Content-Encoding: br")
