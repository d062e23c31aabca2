"""A page that sends its readers to itself, every moment."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
AT_MOST = 60
WIRE = r"http-equiv=refresh content='0;url=/again'"


async def handle(wire: Wire) -> None:
    await wire.reply(
        b"<meta http-equiv=refresh content='0;url=/again'><title>Again</title><p>And again.</p>"
    )
