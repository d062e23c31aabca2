"""Two seconds between two requests, please; the log shows whether they were kept."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"Crawl-delay: 2"


async def robots(wire: Wire) -> None:
    await wire.reply(b"User-agent: *\nCrawl-delay: 2\n", "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    number = int(wire.path[1:] or 0) if wire.path[1:].isdecimal() or wire.path == "/" else 9
    following = [f"/{number + 1}"] if number < 3 else []
    await wire.reply(page(f"Unhurried {number}", f"Page number {number}.", *following))
