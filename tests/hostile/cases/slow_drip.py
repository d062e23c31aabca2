"""A body that comes a byte at a time, always before one would lose patience."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire

EXPECT = "timeout"
# a client that was held up finds several drips at once, but no flood
WIRE = r"^HTTP/1.1 200 .*\r\n\r\n<title>Drip</title>\.{1,60}<drip>$"


async def handle(wire: Wire) -> None:
    await wire.endless(HTML_HEAD + b"\r\n<title>Drip</title>", b".", seconds=0.5)
