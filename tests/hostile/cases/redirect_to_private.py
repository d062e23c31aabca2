"""A redirect into a private network."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "blocked-address"
WIRE = r"^HTTP/1.1 302 .*Location: http://10\.0\.0\.1/"


async def handle(wire: Wire) -> None:
    await wire.redirect("http://10.0.0.1/")
