"""A status that no standard knows."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "http-error"
WIRE = r"^HTTP/1.1 999 Go Away\r\n"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Go away"), status="999 Go Away")
