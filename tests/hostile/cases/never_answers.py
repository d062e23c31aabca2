"""The connection is taken, and then nothing."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "timeout"
WIRE = r"^<silence>$"


async def handle(wire: Wire) -> None:
    await wire.hang()
