"""Content-Length says less than is sent."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("page", "malformed")
WIRE = r"^HTTP/1.1 200 .*Content-Length: 20\r\n\r\n.{200,}<end>$"


async def handle(wire: Wire) -> None:
    body = page("Short length", "word " * 100)
    await wire.send(HTML_HEAD + b"Content-Length: 20\r\n\r\n" + body)
