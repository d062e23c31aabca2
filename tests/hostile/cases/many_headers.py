"""A hundred thousand headers."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("malformed", "no-connection", "too-large", "page", "unreadable")
WIRE = r"^HTTP/1.1 200 OK\r\n(?:X-\d+: y\r\n){1000,}"


async def handle(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\n")
    await wire.send(b"".join(b"X-%d: y\r\n" % number for number in range(100_000)))
    await wire.send(b"\r\n" + page("Many headers"))
