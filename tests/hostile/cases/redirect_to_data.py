"""A redirect to a page that is in the URL itself."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "blocked-url"
WIRE = r"^HTTP/1.1 302 .*Location: data:text/html"


async def handle(wire: Wire) -> None:
    await wire.redirect("data:text/html,<title>no</title>")
