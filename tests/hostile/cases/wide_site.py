"""A host with no end of subpages, each with twenty links to others: what a site cap is for."""

from __future__ import annotations

from random import Random

from tests.hostile.wire import Wire, page

EXPECT = "page"
AT_MOST = 1_000
WIRE = r"href=\"/0/\d+\""


async def handle(wire: Wire) -> None:
    draw = Random(wire.path)
    links = [f"/{n}/{draw.randrange(10**9)}" for n in range(20)]
    await wire.reply(page(f"Wide {wire.path}", f"Words {draw.random()} and no more.", *links))
