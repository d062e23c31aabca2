"""Not found, says the page; all is well, says the status."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("soft-404", "page")
WIRE = r"^HTTP/1.1 200 .*404 Not Found"


async def handle(wire: Wire) -> None:
    await wire.reply(page("404 Not Found", "Sorry, the page you requested was not found."))
