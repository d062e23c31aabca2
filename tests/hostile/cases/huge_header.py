"""A header of ten megabytes."""

from __future__ import annotations

from tests.hostile.wire import CHUNK, Wire, page

EXPECT = ("malformed", "no-connection", "too-large", "unreadable")
WIRE = r"^HTTP/1.1 200 OK\r\nX-Huge: x{1000,}<more>$"


async def handle(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nX-Huge: ")
    for _ in range(160):
        await wire.send(b"x" * CHUNK)
    await wire.send(b"\r\n\r\n" + page("Huge header"))
