"""A body that says it is gzip and is not."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "malformed", "unreadable", "no-connection")
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: gzip.*\r\n\r\n<title>"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Not packed", "at all"), "Content-Encoding: gzip")
