"""The robots.txt is said to be in a private network."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "robots-unreachable", "blocked-address")
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"^HTTP/1.1 302 .*Location: http://10\.0\.0\.1/robots\.txt"


async def robots(wire: Wire) -> None:
    await wire.redirect("http://10.0.0.1/robots.txt")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Robots elsewhere"))
