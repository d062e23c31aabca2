"""Gzip that ends in the middle."""

from __future__ import annotations

import gzip

from tests.hostile.wire import Wire, page

EXPECT = ("page", "malformed", "unreadable", "no-connection")
WIRE = r"^HTTP/1.1 200 .*Content-Encoding: gzip.*\r\n\r\n\x1f\x8b.{20,}<end>$"


async def handle(wire: Wire) -> None:
    body = gzip.compress(page("Cut", " ".join(map(str, range(5000)))))
    await wire.reply(body[: len(body) // 2], "Content-Encoding: gzip")
