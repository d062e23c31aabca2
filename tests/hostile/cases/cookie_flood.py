"""Two hundred large cookies with every page."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "malformed", "no-connection", "too-large")
WIRE = r"^HTTP/1.1 200 OK\r\n(?:Set-Cookie: c\d+=z{300}; Path=/\r\n){200}"


async def handle(wire: Wire) -> None:
    cookies = [f"Set-Cookie: c{number}={'z' * 300}; Path=/" for number in range(200)]
    await wire.reply(page("Cookies", "Have some.", "/again"), *cookies)
