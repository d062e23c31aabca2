"""Which text of a page is the page's own: what is left without menus, headers and footers.

Markup is flat when it is read, so the regions of a page are known only by the marks that
their tags left in the text (`tres.web.flat_html`). One pass pairs them with a stack, as one
pairs brackets, and cuts what lies inside of these:

- `nav` is never text: it holds links, and links are read all the same;
- `aside` and the controls of forms (`button`, `select`, `textarea`, `datalist`);
- `header` and `footer` of the page. Those of an `article` or in `main` are content.

Pages nest their tags wrongly, and a mistake must not swallow the page. So a closing mark
pairs with the nearest opening mark of its kind, what was opened in between and never
closed is kept, and so is whatever contains `main` or an `article`. And if next to nothing
would be left, the page was built of other ideas than these, and all but `nav` is kept.
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
    """A region that is open: where it began, and whether the page's content has to do with it."""

    name: str
    start: int
    inside_content: bool
    holds_content: bool = False

    @property
    def to_cut(self) -> bool:
        of_content = self.name in _OF_THE_PAGE and self.inside_content
        return self.name in _CUT and not of_content and not self.holds_content


def main_text(text: str) -> str:
    """The marked text of a page without its boilerplate, and without marks."""
    if text.isascii():
        return text
    pieces = _MARK.split(text)  # text and marks in turn
    regions = list(_regions_to_cut(pieces))
    without_menus = _without(
        pieces, [(start, end) for name, start, end in regions if name == "nav"]
    )
    rest = _without(pieces, [(start, end) for _, start, end in regions])
    size = len(rest.strip())
    if size < LEAST_CHARS or size < LEAST_SHARE * len(without_menus.strip()):
        return without_menus
    return rest


def first_heading(text: str) -> str:
    """What the first `h1` of a marked text holds."""
    _, _, rest = text.partition(OPENING["h1"])
    return strip_marks(rest.partition(CLOSING["h1"])[0]) if CLOSING["h1"] in rest else ""


def _regions_to_cut(pieces: list[str]) -> Iterator[tuple[str, int, int]]:
    """Name and pieces of every region to cut; each region is opened and given up once."""
    opened: list[_Region] = []
    names: Counter[str] = Counter()
    for place in range(1, len(pieces), 2):
        mark = pieces[place]
        name = _NAME[mark]
        if mark in _OPENS:
            inside = any(names[content] for content in _CONTENT)
            opened.append(_Region(name, place, inside))
            names[name] += 1
        elif names[name]:
            region = _closed(opened, names, name)
            if region.to_cut:
                yield name, region.start, place + 1


def _closed(opened: list[_Region], names: Counter[str], name: str) -> _Region:
    """The nearest open region of that name; what was opened in it and not closed is given up."""
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


def _without(pieces: list[str], spans: list[tuple[int, int]]) -> str:
    """The text outside of all spans, which may lie in each other."""
    kept: list[str] = []
    at = 0
    for start, end in sorted(spans):
        kept += pieces[at:start:2]
        at = max(at, end)
    return "".join(kept + pieces[at::2])
