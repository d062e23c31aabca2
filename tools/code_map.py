"""The map of `src/tres`: how a page walks through its packages, one box for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import NamedTuple

from tools.drawing import GREEN, INK, PALE, PAPER, picture, text

COLUMNS = (24, 208, 392, 576)
BOX_WIDTH, BOX_HEIGHT = 160, 64


class Box(NamedTuple):
    """A folder (or a file) of `src/tres`, and what happens there."""

    name: str
    column: int
    y: int
    lines: tuple[str, str]
    station: int = 0
    """Its place on the walk; 0 if the page does not pass here."""


BOXES = (
    Box("cli/", 0, 66, ("the commands: tres", "crawl, tres report, ...")),
    Box("api/", 1, 66, ("tres in a", "Python program")),
    Box("scrapy_plugin/", 2, 66, ("tres in your own", "Scrapy project")),
    Box("bench/", 3, 66, ("many runs, to", "compare policies")),
    Box("runs/", 0, 180, ("start, resume and", "label runs")),
    Box("settings/", 1, 180, ("the topic file: every", "setting and its check")),
    Box("env.py", 3, 180, ("a crawl as a Gym-", "nasium environment")),
    Box("engines/", 0, 310, ("fetch the page,", "politely and safely"), 1),
    Box("web/", 1, 310, ("HTML becomes text", "and links"), 2),
    Box("topic/", 2, 310, ("find the keywords", "in text and links"), 3),
    Box("relevance/", 3, 310, ("how probably is it", "about the topic?"), 4),
    Box("crawl/", 3, 414, ("count the step,", "give the reward"), 5),
    Box("mdp/", 2, 414, ("update paths, sites", "and link features"), 6),
    Box("policies/", 1, 414, ("learn from the page,", "choose the next URL"), 7),
    Box("offline/", 0, 522, ("or an archive, or a", "generated web")),
    Box("frontier/", 1, 522, ("the tree in which", "links wait")),
    Box("agent/", 2, 522, ("the network that", "values links")),
    Box("store/", 3, 522, ("journal, WARC files,", "snapshots, export"), 8),
    Box("report/", 2, 648, ("what was found,", "and why")),
    Box("dashboard/", 3, 648, ("watch and steer", "in a browser")),
    Box("files/", 0, 648, ("safe reading,", "durable writing")),
    Box("errors.py", 1, 648, ("what can go wrong,", "and the exit codes")),
)

BANDS = ((40, 212), (284, 314), (636, 120))
"""Top and height of the grey areas."""

CAPTIONS = (
    ("before the crawl", 24, 58),
    ("one step of the crawl: the numbers show the way of a page", 208, 302),
    ("used by every other package", 24, 742),
    ("read the store, never touch the crawl", 392, 742),
    ("percept", 664, 395),
    ("next URL", 112, 438),
    ("events", 664, 503),
)

JOINS = ("M288 130 V154 H104", "M472 130 V154 H288", "M656 130 V154 H472")
"""Lines that end in another line."""

ARROWS = (
    "M104 130 V176",
    "M104 244 V306",
    "M184 342 H204",
    "M368 342 H388",
    "M552 342 H572",
    "M656 374 V410",
    "M576 446 H556",
    "M392 446 H372",
    "M208 446 H104 V378",
    "M64 522 V378",
    "M288 478 V518",
    "M368 464 H380 V554 H388",
    "M656 478 V518",
    "M656 586 V644",
    "M656 616 H472 V644",
)


def code_map() -> str:
    """Draw every package, and the way of a page through them."""
    heading = text(24, 28, "How a page walks through src/tres", weight="bold")
    parts = [_ARROWHEAD, heading, *starmap(_band, BANDS)]
    parts += [text(x, y, words, PALE) for words, x, y in CAPTIONS]
    parts += [_line(path) for path in JOINS]
    parts += [_line(path, ' marker-end="url(#head)"') for path in ARROWS]
    parts += [part for box in BOXES for part in _draw_box(box)]
    return picture(766, parts)


_ARROWHEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
    f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{PALE}"/></marker></defs>'
)


def _band(y: int, height: int) -> str:
    return f'<rect x="10" y="{y}" width="740" height="{height}" rx="8" fill="#f1f4f7"/>'


def _line(path: str, end: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{PALE}"{end}/>'


def _draw_box(box: Box) -> Iterator[str]:
    x = COLUMNS[box.column]
    edge = GREEN if box.station else PALE
    yield (
        f'<rect x="{x}" y="{box.y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
        f'fill="{PAPER}" stroke="{edge}"/>'
    )
    yield text(x + 10, box.y + 20, box.name, GREEN if box.station else INK, weight="bold")
    for number, line in enumerate(box.lines):
        yield text(x + 10, box.y + 38 + 16 * number, line)
    if box.station:
        centre = x + BOX_WIDTH - 14
        yield f'<circle cx="{centre}" cy="{box.y + 15}" r="9" fill="{GREEN}"/>'
        yield text(centre, box.y + 20, str(box.station), PAPER, "middle", "bold")
