"""A redirect that does not say where to."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("http-error", "malformed", "blocked-url")
WIRE = r"^HTTP/1.1 302 (?!.*Location)"


async def handle(wire: Wire) -> None:
    await wire.reply(b"", status="302 Found")
