"""A reset instead of an answer."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "no-connection"
WIRE = r"^<reset>$"


async def handle(wire: Wire) -> None:
    wire.reset()
