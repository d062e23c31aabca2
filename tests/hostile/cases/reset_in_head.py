"""A reset in the middle of the headers."""

from __future__ import annotations

import asyncio

from tests.hostile.wire import Wire

EXPECT = "no-connection"
WIRE = r"^HTTP/1.1 200 OK\r\nContent-Ty<reset>$"


async def handle(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    await asyncio.sleep(0.1)
    wire.reset()
