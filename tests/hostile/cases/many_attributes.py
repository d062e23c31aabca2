"""A tag with so many attributes that comparing them all takes minutes."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("malformed", "unreadable")
WIRE = r"<a a0 a1 a2 .* a1000 "


async def handle(wire: Wire) -> None:
    names = " ".join(f"a{number}" for number in range(200_000))
    await wire.reply(f"<title>Attributes</title><a {names} href=/x>x</a>".encode())
