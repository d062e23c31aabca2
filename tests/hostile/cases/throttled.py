"""Too many requests, without a word how long to wait."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "throttled"
WIRE = r"^HTTP/1.1 429 (?!.*Retry-After)"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Slower"), status="429 Too Many Requests")
