"""An orderly end without a single byte."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "no-connection"
WIRE = r"^<end>$"


async def handle(wire: Wire) -> None:
    await wire.send(b"")
