"""Every page redirects to a new one: no loop, and no end."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "redirect-loop"
AT_MOST = 60
WIRE = r"^HTTP/1.1 302 .*Location: http://127.*/1\r\n"


async def handle(wire: Wire) -> None:
    await wire.redirect(wire.url(f"/{int(wire.path[1:] or 0) + 1}"))
