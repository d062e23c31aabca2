"""Links with user name and password, and one that only looks like another host."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
NEVER = ("secret",)
WIRE = r"http://me:secret@127"


async def handle(wire: Wire) -> None:
    place = wire.url("/secret").removeprefix("http://")
    links = (f"http://me:secret@{place}", f"http://127.0.1.1@{place}")
    await wire.reply(page("User names", "Log in.", *links))
