"""A Content-Length that is no number."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("page", "no-connection", "malformed")
WIRE = r"^HTTP/1.1 200 .*Content-Length: -1e9\r\n\r\n"


async def handle(wire: Wire) -> None:
    await wire.send(HTML_HEAD + b"Content-Length: -1e9\r\n\r\n" + page("Nonsense"))
