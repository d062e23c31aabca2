"""A video without end, honestly labelled: not to be downloaded to be thrown away."""

from __future__ import annotations

from tests.hostile.wire import CHUNK, Wire

EXPECT = ("not-html", "too-large")
WIRE = r"Content-Type: video/mp4"


async def handle(wire: Wire) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"
    await wire.endless(head, bytes(CHUNK))
