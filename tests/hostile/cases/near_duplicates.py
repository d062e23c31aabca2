"""A hundred pages that differ in one number."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
ALSO = {f"/{number}": ("near-duplicate", "page") for number in range(100)}
AT_MOST = 120
WIRE = r"href=\"/99\""


async def handle(wire: Wire) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    await wire.reply(page("One of many", f"{words} {wire.path}", *(f"/{n}" for n in range(100))))
