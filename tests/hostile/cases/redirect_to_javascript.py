"""A redirect to a script."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "blocked-url"
WIRE = r"^HTTP/1.1 302 .*Location: javascript:"


async def handle(wire: Wire) -> None:
    await wire.redirect("javascript:alert(1)")
