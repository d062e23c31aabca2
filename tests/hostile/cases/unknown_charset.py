"""A charset that nobody has heard of."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"Content-Type: text/html; charset=klingon-8"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Unknown", "Plain words."), "Content-Type: text/html; charset=klingon-8")
