"""Links inside links inside navigation, none of them ever closed."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("page", "malformed", "unreadable")
WIRE = r"(?:<nav><a href=/x>){1000,}"


async def handle(wire: Wire) -> None:
    await wire.reply(b"<title>Deep links</title>" + b"<nav><a href=/x>" * 50_000)
