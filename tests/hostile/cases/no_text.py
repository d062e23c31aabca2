"""A page that is empty without its scripts."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"<div id=root></div><script"


async def handle(wire: Wire) -> None:
    await wire.reply(b"<title>App</title><div id=root></div><script src=/app.js></script>")
