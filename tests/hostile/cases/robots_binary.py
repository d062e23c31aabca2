"""A robots.txt that is no text."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "robots-unreachable")
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"\r\n\r\n\x00\x01\x02"


async def robots(wire: Wire) -> None:
    await wire.reply(bytes(range(256)) * 100, "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Binary robots"))
