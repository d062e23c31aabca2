"""The robots.txt never comes."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "robots-unreachable"
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"^<silence>$"


async def robots(wire: Wire) -> None:
    await wire.hang()


async def handle(wire: Wire) -> None:
    await wire.reply(page("Behind silent robots"))
