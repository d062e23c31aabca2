"""A protocol whose name is no text."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "malformed"
WIRE = r"^HTTP\xed\xa0\x80/1.1 200 OK\r\n"


async def handle(wire: Wire) -> None:
    await wire.send(b"HTTP\xed\xa0\x80/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
