"""Closed for now; come back in an hour."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("throttled", "http-error")
AT_MOST = 3
WIRE = r"^HTTP/1.1 503 .*Retry-After: 3600"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Closed"), "Retry-After: 3600", status="503 Service Unavailable")
