"""An honest page that is packed twice, and says so."""

from __future__ import annotations

import gzip

from tests.hostile.wire import Wire, page

EXPECT = ("page", "malformed", "unreadable", "not-html")
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: gzip, gzip.*\r\n\r\n\x1f\x8b"


async def handle(wire: Wire) -> None:
    body = gzip.compress(gzip.compress(page("Packed", "twice")))
    await wire.reply(body, "Content-Encoding: gzip, gzip")
