"""What a TLS server says to plain HTTP."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("malformed", "no-connection")
WIRE = r"^\x15\x03\x01.{4}<end>$"


async def handle(wire: Wire) -> None:
    await wire.send(b"\x15\x03\x01\x00\x02\x02\x46")
