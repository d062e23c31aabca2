"""A type that is hardly readable."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "not-html")
WIRE = r"Content-Type: ; text/HTML;;charset=\"utf-8;"


async def handle(wire: Wire) -> None:
    await wire.reply(
        page("Odd", "A page all the same."), 'Content-Type: ; text/HTML;;charset="utf-8;'
    )
