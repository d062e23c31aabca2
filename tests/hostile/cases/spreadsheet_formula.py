"""A title that a spreadsheet would run."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"<title>=HYPERLINK"


async def handle(wire: Wire) -> None:
    await wire.reply(b'<title>=HYPERLINK("http://10.0.0.1/","x")</title>+1-1@SUM(A1)')
