"""A Retry-After that would keep a crawler waiting for ten thousand years, or is no time."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "throttled"
AT_MOST = 2
WIRE = r"^HTTP/1.1 429 .*Retry-After: (?:9{12}|soon)"


async def handle(wire: Wire) -> None:
    wait = "9" * 12 if wire.path == "/" else "soon"
    await wire.reply(page("Slower"), f"Retry-After: {wait}", status="429 Too Many Requests")
