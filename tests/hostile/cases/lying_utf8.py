"""Declared as UTF-8, written in windows-1252."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"charset=utf-8\r\n.*\xe4\xf6\xfc"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Umlaute", "äöü ÄÖÜ ß é à").decode().encode("cp1252"))
