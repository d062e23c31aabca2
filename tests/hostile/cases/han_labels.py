"""Thousands of links to hosts whose names are 250 Chinese characters."""

from __future__ import annotations

from functools import cache
from random import Random

from tests.hostile.wire import Wire, page

EXPECT = ("page", "unreadable")
WIRE = r"^HTTP/1.1 200 .*<title>Names</title>"


@cache
def body() -> bytes:
    rng, letters = Random(1), [chr(code) for code in range(0x4E00, 0x9FA5)]
    hosts = ["".join(rng.choices(letters, k=250)) for _ in range(1_500)]
    return page("Names", "telescope", *(f"http://{host}.com/" for host in hosts))


async def handle(wire: Wire) -> None:
    await wire.reply(body())
