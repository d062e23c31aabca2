"""One letter with a hundred thousand combining marks: composing them is quadratic."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = ("page", "near-duplicate")
WIRE = r"^HTTP/1.1 200 .*<title>Marks 0</title>"
ALSO = {f"/{number}": EXPECT for number in range(50)}
MARKS = "\u0301\u0316\u0323\u0327\u0334" * 20_000


async def handle(wire: Wire) -> None:
    number = int(wire.path[1:] or "0")
    await wire.reply(page(f"Marks {number}", f"a{MARKS} telescope {number}", f"/{number + 1}"))
