"""A relative link that makes the path longer with every step."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
AT_MOST = 200
WIRE = r"href=\"deeper/\""


async def handle(wire: Wire) -> None:
    await wire.reply(page("Deeper", f"Level {wire.path.count('/')}.", "deeper/"))
