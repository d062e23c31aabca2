"""Two different Content-Length headers, as in request smuggling."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("page", "no-connection", "malformed")
WIRE = r"^HTTP/1.1 200 .*Content-Length: 10\r\nContent-Length: 30\r\n"


async def handle(wire: Wire) -> None:
    lengths = b"Content-Length: 10\r\nContent-Length: 30\r\n\r\n"
    await wire.send(HTML_HEAD + lengths + page("Two lengths", "word " * 10))
