"""A redirect to the address at which clouds tell their machines secrets."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "blocked-address"
WIRE = r"^HTTP/1.1 302 .*Location: http://169\.254\.169\.254/latest"


async def handle(wire: Wire) -> None:
    await wire.redirect("http://169.254.169.254/latest/meta-data/")
