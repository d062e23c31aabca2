"""Headers that come one at a time, for ever."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "timeout"
# a client that was held up finds several at once, but no flood
WIRE = r"^HTTP/1.1 200 OK\r\n(?:X-Slow: yes\r\n){1,60}<drip>$"


async def handle(wire: Wire) -> None:
    await wire.endless(b"HTTP/1.1 200 OK\r\n", b"X-Slow: yes\r\n", seconds=0.5)
