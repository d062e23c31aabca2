"""A hundred thousand elements, one inside the other."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"(?:<div>){1000,}"


async def handle(wire: Wire) -> None:
    await wire.reply(b"<title>Deep</title>" + b"<div>" * 100_000 + b"ground")
