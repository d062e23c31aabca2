"""The main text of a page: without menus, headers and footers.

Markup is flat when it is read, so the regions of a page are known only by the marks that their
tags left in the text (`tres.web.flat_html`). One pass pairs the marks with a stack, like brackets,
and cuts the text inside these:

- `nav`, always: it contains links, which are read separately;
- `aside` and the controls of forms (`button`, `select`, `textarea`, `datalist`);
- `header` and `footer` of the page. Those of an `article` or in `main` are content.

Pages nest their tags wrongly, and a mistake must not swallow the page. So a closing mark pairs with
the nearest opening mark of its kind; regions that were opened in between and never closed are kept,
and so are regions that contain `main` or an `article`. If next to nothing is left, the page uses
these elements differently, and only `nav` is cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tres.web.flat_html import CLOSING, OPENING, strip_marks

LEAST_CHARS = 200
LEAST_SHARE = 0.1
"""Less text than either of these is next to nothing."""

_NAME = {mark: name for marks in (OPENING, CLOSING) for name, mark in marks.items()}
_OPENS = frozenset(OPENING.values())
_MARK = re.compile(f"([{min(_NAME)}-{max(_NAME)}])")
_CONTENT = ("article", "main")
_OF_THE_PAGE = ("header", "footer")
_CUT = frozenset(OPENING) - {"article", "main", "h1"}


@dataclass(slots=True)
class _Region:
    """An open region: where it begins, and whether it is inside content or contains some."""

    name: str
    start: int
    inside_content: bool
    holds_content: bool = False

    @property
    def to_cut(self) -> bool:
        of_content = self.name in _OF_THE_PAGE and self.inside_content
        return self.name in _CUT and not of_content and not self.holds_content


def main_text(text: str) -> str:
    """Return a marked text without boilerplate and without marks."""
    if text.isascii():
        return text
    pieces = _MARK.split(text)  # text and marks in turn
    regions = list(_regions_to_cut(pieces))
    without_menus = _without(pieces, [span for name, *span in regions if name == "nav"])
    rest = _without(pieces, [span for _, *span in regions])
    size = len(rest.strip())
    if size < LEAST_CHARS or size < LEAST_SHARE * len(without_menus.strip()):
        return without_menus
    return rest


def first_heading(text: str) -> str:
    """Return the content of the first `h1` of a marked text."""
    _, _, rest = text.partition(OPENING["h1"])
    return strip_marks(rest.partition(CLOSING["h1"])[0]) if CLOSING["h1"] in rest else ""


def _regions_to_cut(pieces: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of every region to cut."""
    opened: list[_Region] = []
    names: Counter[str] = Counter()
    for place in range(1, len(pieces), 2):
        mark = pieces[place]
        name = _NAME[mark]
        if mark in _OPENS:
            opened.append(_Region(name, place, any(names[each] for each in _CONTENT)))
            names[name] += 1
        elif names[name]:
            region = _closed(opened, names, name)
            if region.to_cut:
                yield name, region.start, place + 1


def _closed(opened: list[_Region], names: Counter[str], name: str) -> _Region:
    """Close the nearest open region of a name, and with it all regions opened inside."""
    content = False
    while True:
        region = opened.pop()
        names[region.name] -= 1
        region.holds_content = content = content or region.holds_content
        if region.name == name:
            break
        content = content or region.name in _CONTENT
    if opened and (content or name in _CONTENT):
        opened[-1].holds_content = True
    return region


def _without(pieces: list[str], spans: list[list[int]]) -> str:
    """Return the text outside all spans, which may be nested."""
    kept: list[str] = []
    at = 0
    for start, end in sorted(spans):
        kept += pieces[at:start:2]
        at = max(at, end)
    return "".join(kept + pieces[at::2])
