"""Declared as UTF-16, without a byte-order mark."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "malformed")
WIRE = r"charset=utf-16\r\n.*<\x00t\x00i\x00"


async def handle(wire: Wire) -> None:
    body = page("Wide", "Two bytes a letter.").decode().encode("utf-16-le")
    await wire.reply(body, "Content-Type: text/html; charset=utf-16")
