"""A megabyte of extension behind the size of a chunk."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire

EXPECT = ("malformed", "no-connection", "too-large", "page")
WIRE = r"chunked\r\n\r\n5;x{1000,}"


async def handle(wire: Wire) -> None:
    extension = b"5;" + b"x" * 1_000_000 + b"\r\nhello\r\n0\r\n\r\n"
    await wire.send(HTML_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + extension)
