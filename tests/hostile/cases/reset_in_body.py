"""A reset in the middle of the body."""

from __future__ import annotations

import asyncio

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("no-connection", "page")
WIRE = r"^HTTP/1.1 200 .*\r\n\r\n<title>.*<reset>$"


async def handle(wire: Wire) -> None:
    await wire.send(HTML_HEAD + b"Content-Length: 9999\r\n\r\n" + page("Reset"))
    await asyncio.sleep(0.1)
    wire.reset()
