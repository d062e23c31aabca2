"""A redirect to a file of the crawling machine."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "blocked-url"
WIRE = r"^HTTP/1.1 302 .*Location: file:///etc/passwd"


async def handle(wire: Wire) -> None:
    await wire.redirect("file:///etc/passwd")
