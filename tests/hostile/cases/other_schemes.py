"""Links that are no addresses of the Web."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
NEVER = ("file:", "ftp:", "javascript:", "data:", "gopher:", "mailto:")
WIRE = r"file:///etc/passwd.*gopher:"


async def handle(wire: Wire) -> None:
    schemes = ("file:///etc/passwd", "ftp://10.0.0.1/", "javascript:alert(1)", "data:text/html,x")
    await wire.reply(
        page("Schemes", "Follow these.", *schemes, "gopher://x/", "mailto:a@b.example")
    )
