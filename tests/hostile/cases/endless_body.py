"""A body without length and without end."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire

EXPECT = "too-large"
WIRE = r"^HTTP/1.1 200 .*more.*<more>$"


async def handle(wire: Wire) -> None:
    await wire.endless(HTML_HEAD + b"\r\n<title>Endless</title>", b"and more " * 7000)
