"""A status that no database column holds."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "http-error"
WIRE = r"^HTTP/1.1 9223372036854775808 OK\r\n"


async def handle(wire: Wire) -> None:
    await wire.reply(page("So many"), status="9223372036854775808 OK")
