"""The good part: small sites about one topic, linked to each other and to the hostile hosts.

Every good page links to its neighbours on its site, to a page of another site, to a picture, and,
one page in `EVERY`, to a hostile host; the front pages lead to all of those. Half of the pages are
about the topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.hostile.wire import Wire, page

SITES = 20
PAGES = 50
EVERY = 3
KEYWORDS = ("telescope", "galaxy", "nebula", "comet", "orbit")
OTHERS = ("garden", "recipe", "window", "letter", "market", "bridge", "teacher", "river")
SEED = "/"
PICTURE = "/picture.jpg"


def hosts() -> list[str]:
    """The addresses of the good sites."""
    return [f"127.0.1.{number}" for number in range(1, SITES + 1)]


def document(host: str, path: str, port: int, hostile: Sequence[str]) -> bytes | None:
    """The page at a path of a good site; None where there is none."""
    site = hosts().index(host)
    number = 0 if path == SEED else _number(path)
    if number is None:
        return None
    other = hosts()[(site + number + 1) % SITES]
    links = [f"/{(number * 2 + step) % PAGES}" for step in (1, 2)]
    links += [f"http://{other}:{port}/{number}", PICTURE]
    if path == SEED:
        links += [f"http://{bad}:{port}/" for bad in hostile[site::SITES]]
    elif hostile and (site * PAGES + number) % EVERY == 0:
        links.append(f"http://{hostile[(site * PAGES + number) // EVERY % len(hostile)]}:{port}/")
    return page(f"Page {number} of site {site}", text_of(site, number), *links)


async def answer(wire: Wire, hostile: Sequence[str]) -> None:
    """Answer honestly."""
    body = document(wire.host, wire.path, wire.port, hostile)
    if body is None:
        await wire.reply(b"", status="404 Not Found")
    else:
        await wire.reply(body)


def _number(path: str) -> int | None:
    digits = path.removeprefix("/")
    return int(digits) if digits.isdecimal() and int(digits[:9]) < PAGES else None


def text_of(site: int, number: int) -> str:
    """Different words on every page, so that no two pages are nearly the same."""
    rng = Random(site * PAGES + number)
    words = [*OTHERS, *(KEYWORDS if number % 2 == 0 else ())]
    return " ".join(f"{rng.choice(words)} {rng.randrange(10**6)}" for _ in range(120))
