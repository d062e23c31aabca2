"""Nobody may fetch anything."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "robots-denied"
AT_MOST = 3
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"Disallow: /\n"


async def robots(wire: Wire) -> None:
    await wire.reply(b"User-agent: *\nDisallow: /\n", "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Forbidden"))
