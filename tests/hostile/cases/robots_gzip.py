"""A robots.txt of five kilobytes that unpacks to five megabytes; it forbids one page."""

from __future__ import annotations

import gzip
from functools import cache

from tests.hostile.wire import Wire, page

EXPECT = ("page", "near-duplicate")
WIRE = r"^HTTP/1.1 200 .*<title>Allowed</title>"
ROBOTS = r"^HTTP/1.1 200 .*Content-Encoding: gzip.*\r\n\r\n\x1f\x8b"
ALSO = {"/no": "robots-denied"}


@cache
def rules() -> bytes:
    return gzip.compress(b"User-agent: *\nDisallow: /no\n" + b"# a remark\n" * 445_000)


async def robots(wire: Wire) -> None:
    await wire.reply(rules(), "Content-Encoding: gzip", "Content-Type: text/plain")


async def handle(wire: Wire) -> None:
    await wire.reply(page("Allowed", "telescope", "/no"))
