"""A page of a hundred megabytes, with its true length."""

from __future__ import annotations

from tests.hostile.wire import CHUNK, HTML_HEAD, Wire

EXPECT = "too-large"
WIRE = r"Content-Length: 104857600\r\n"


async def handle(wire: Wire) -> None:
    await wire.send(HTML_HEAD + b"Content-Length: 104857600\r\n\r\n")
    for _ in range(1600):
        await wire.send(b"words " * (CHUNK // 6) + b"    ")
