"""A server that is broken for good."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "http-error"
WIRE = r"^HTTP/1.1 500 "


async def handle(wire: Wire) -> None:
    await wire.reply(page("Broken"), status="500 Internal Server Error")
