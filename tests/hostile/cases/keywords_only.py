"""Endless pages that say nothing but the keywords of the topic, and link to more of them."""

from __future__ import annotations

from random import Random

from tests.hostile.good import KEYWORDS
from tests.hostile.wire import Wire, page

EXPECT = "keyword-stuffing"
AT_MOST = 10
WIRE = r"galaxy [a-z ]+galaxy"


async def handle(wire: Wire) -> None:
    draw = Random(wire.path)
    text = " ".join(draw.choices(KEYWORDS, k=240))
    more = (f"/{draw.randrange(1 << 40)}" for _ in range(20))
    await wire.reply(page(f"All about {KEYWORDS[0]}", text, *more))
