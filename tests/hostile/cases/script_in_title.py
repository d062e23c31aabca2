"""Script in the title, in an anchor and in a URL."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"<title><script>alert\(1\)"


async def handle(wire: Wire) -> None:
    await wire.reply(
        b'<title><script>alert(1)</script></title><p>"><img src=x onerror=alert(2)>'
        b"<a href='/?q=<script>alert(3)</script>'><b>&lt;script&gt;alert(4)</b></a>"
    )
