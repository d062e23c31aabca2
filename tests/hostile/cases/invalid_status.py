"""A status line that makes no sense."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("malformed", "no-connection", "http-error")
WIRE = r"^HTTP/1.1 abc Nonsense\r\n"


async def handle(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 abc Nonsense\r\nContent-Length: 0\r\n\r\n")
