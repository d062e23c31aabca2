"""Bytes that are no HTTP at all."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("malformed", "no-connection")
WIRE = r"^\x00\x01.{1000,}<end>$"


async def handle(wire: Wire) -> None:
    await wire.send(bytes(range(256)) * 20)
