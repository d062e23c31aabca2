"""A chunk that claims to be larger than any memory."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("malformed", "no-connection", "too-large", "page", "timeout")
WIRE = r"chunked\r\n\r\nffffffffffffffff\r\n"


async def handle(wire: Wire) -> None:
    body = page("Huge chunk", "That was all.")
    await wire.send(HTML_HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + body)
