"""Links of a hundred thousand characters."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
NEVER = ("longlong",)
WIRE = r"href=\"/longlong"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Long", "Some links are too long.", "/" + "long" * 25_000, "/short"))
