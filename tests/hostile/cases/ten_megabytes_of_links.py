"""A page of links and nothing else."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = ("too-large", "page")
AT_MOST = 60
WIRE = r"^HTTP/1.1 200 .*<a href=/1>.*<a href=/1000>"


async def handle(wire: Wire) -> None:
    if wire.path == "/":
        links = "".join(f"<a href=/{number}>link {number}</a>\n" for number in range(350_000))
        await wire.reply(b"<title>Links</title>" + links.encode())
    else:
        await wire.reply(b"", status="404 Not Found")
