"""A page that does not say what it is."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"^HTTP/1.1 200 OK\r\nContent-Length: \d+\r\n\r\n<title>"


async def handle(wire: Wire) -> None:
    body = page("Untyped", "A page all the same.")
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
