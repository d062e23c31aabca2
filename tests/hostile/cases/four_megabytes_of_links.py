"""As many links as fit into a page that is just not too large."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
AT_MOST = 5_100
WIRE = r"^HTTP/1.1 200 .*<a href=/1>.*<a href=/1000>"


async def handle(wire: Wire) -> None:
    if wire.path == "/":
        links = "".join(f"<a href=/{number}>x</a>\n" for number in range(150_000))
        await wire.reply(b"<title>Links</title>" + links.encode())
    else:
        await wire.reply(b"", status="404 Not Found")
