"""Content-Length says more than is sent."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("page", "no-connection", "malformed")
WIRE = r"^HTTP/1.1 200 .*Content-Length: 5000\r\n\r\n.{20,500}<end>$"


async def handle(wire: Wire) -> None:
    await wire.send(HTML_HEAD + b"Content-Length: 5000\r\n\r\n" + page("Long length", "short"))
