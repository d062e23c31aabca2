"""Every month links to the next one, for ever."""

from __future__ import annotations

import re

from tests.hostile.wire import Wire, page

EXPECT = "page"
AT_MOST = 200
WIRE = r"href=\"/calendar/2024-02\.html\""


async def handle(wire: Wire) -> None:
    month = re.fullmatch(r"/calendar/(\d+)-(\d\d)\.html", wire.path)
    year, number = (int(month[1]), int(month[2])) if month else (2024, 1)
    after = f"/calendar/{year + number // 12}-{number % 12 + 1:02}.html"
    await wire.reply(page(f"Month {number} of {year}", f"Nothing on in {year}.", after))
