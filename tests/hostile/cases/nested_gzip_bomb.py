"""A gigabyte in gzip in gzip: a few kilobytes on the wire."""

from __future__ import annotations

import asyncio

from tests.hostile.bombs import nested_bomb
from tests.hostile.wire import Wire

EXPECT = ("too-large", "malformed", "unreadable", "not-html")
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: gzip, gzip.*Content-Length: \d{4,5}\r\n"


async def handle(wire: Wire) -> None:
    await wire.reply(await asyncio.to_thread(nested_bomb), "Content-Encoding: gzip, gzip")
