"""An honest picture."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "not-html"
WIRE = r"Content-Type: image/png"


async def handle(wire: Wire) -> None:
    await wire.reply(b"\x89PNG\r\n\x1a\n" + bytes(1000), "Content-Type: image/png")
