"""A charset that Python knows and no browser: decoding it would cost or harm."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"Content-Type: text/html; charset=punycode"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Puny", "a-" * 50_000), "Content-Type: text/html; charset=punycode")
