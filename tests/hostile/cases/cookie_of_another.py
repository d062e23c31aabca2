"""Cookies for hosts and names that are not the server's to set."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
WIRE = r"Set-Cookie: sid=1; Domain=127\.0\.1\.1"


async def handle(wire: Wire) -> None:
    cookies = ("Set-Cookie: sid=1; Domain=127.0.1.1", "Set-Cookie: =; Domain=.; Max-Age=x")
    await wire.reply(page("Cookies of another"), *cookies)
