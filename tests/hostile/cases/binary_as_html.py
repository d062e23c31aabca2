"""A picture that says it is a page."""

from __future__ import annotations

from random import Random

from tests.hostile.wire import Wire

EXPECT = "malformed"
WIRE = r"text/html.*\r\n\r\n\x89PNG"


async def handle(wire: Wire) -> None:
    await wire.reply(b"\x89PNG\r\n\x1a\n" + Random(1).randbytes(50_000))
