"""A robots.txt of fifty megabytes; its first lines allow everything."""

from __future__ import annotations

from tests.hostile.wire import CHUNK, Wire, page

EXPECT = ("page", "robots-unreachable")
WIRE = r"^HTTP/1.1 200 "
ROBOTS = r"^HTTP/1.1 200 .*Content-Length: 52428800\r\n"


async def robots(wire: Wire) -> None:
    await wire.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 52428800\r\n\r\n"
    )
    for _ in range(800):
        await wire.send(b"Allow: /\n" * (CHUNK // 9) + b"#" * (CHUNK % 9))


async def handle(wire: Wire) -> None:
    await wire.reply(page("Behind huge robots"))
