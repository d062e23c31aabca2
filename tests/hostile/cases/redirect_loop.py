"""Two pages redirect to each other for ever."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "redirect-loop"
AT_MOST = 60
WIRE = r"^HTTP/1.1 302 .*Location: http://127.*/again"


async def handle(wire: Wire) -> None:
    await wire.redirect(wire.url("/" if wire.path == "/again" else "/again"))
