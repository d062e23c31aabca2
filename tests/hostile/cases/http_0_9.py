"""A body without status line and headers, as in 1991."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("malformed", "no-connection", "page")
WIRE = r"^<title>Old</title>.*<end>$"


async def handle(wire: Wire) -> None:
    await wire.send(page("Old", "No head at all."))
