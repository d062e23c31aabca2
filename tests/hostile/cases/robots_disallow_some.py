"""The front page is allowed, what it links to is not."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
ALSO = {"/private/1": "robots-denied", "/private/2": "robots-denied"}
WIRE = r"href=\"/private/1\""
ROBOTS = r"Disallow: /private/"


async def robots(wire: Wire) -> None:
    await wire.reply(b"User-agent: *\nDisallow: /private/\n", "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Front", "Look behind.", "/private/1", "/private/2"))
