"""The robots.txt fails, so nobody knows what is allowed."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "robots-unreachable"
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"^HTTP/1.1 503 "


async def robots(wire: Wire) -> None:
    await wire.reply(b"", status="503 Service Unavailable")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Behind broken robots"))
