"""Escape sequences that clear the screen, in title, anchor and URL."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"<title>\x1b\[2J\x1b\]0;owned\x07"


async def handle(wire: Wire) -> None:
    await wire.reply(
        b"<title>\x1b[2J\x1b]0;owned\x07Title</title><p>Some words that a page has.</p>"
        b"<a href='/\x1b[31mred'>\x1b[31mred\r\n\x08\x08</a> &#x202e;gnp.exe"
    )
