"""A crawl-delay of a year."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "robots-denied"
AT_MOST = 1
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"Crawl-delay: 31536000"


async def robots(wire: Wire) -> None:
    await wire.reply(b"User-agent: *\nCrawl-delay: 31536000\n", "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Once a year", "Come back.", "/next"))
