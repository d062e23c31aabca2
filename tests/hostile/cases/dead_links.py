"""Honest, but nearly all its links are dead."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
ALSO = {f"/gone/{number}": "http-404" for number in range(10)}
WIRE = r"href=\"/gone/9\""


async def handle(wire: Wire) -> None:
    if wire.path == "/":
        await wire.reply(page("Old links", "All of them gone.", *ALSO))
    else:
        await wire.reply(page("Gone"), status="404 Not Found")
