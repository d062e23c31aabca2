"""A chunk whose size is no number."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("malformed", "no-connection", "page")
WIRE = r"chunked\r\n\r\nzz\r\n"


async def handle(wire: Wire) -> None:
    await wire.send(HTML_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + page("Chunk"))
