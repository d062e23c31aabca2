"""Too many requests; come back in an hour."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "throttled"
AT_MOST = 3
WIRE = r"^HTTP/1.1 429 .*Retry-After: 3600"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Slower"), "Retry-After: 3600", status="429 Too Many Requests")
