"""The pages of a run: a table to read, and all of them in little room.

The `SHOWN` most relevant pages stand in the table as they are, so that it can be read and printed
without any script. All pages follow as JSON that no browser executes; the page's script sorts,
filters and turns over the leaves of the table from there. Twenty thousand pages must stay below
five megabytes, so:

- values stand in columns, not in objects with names;
- a URL is the number of its host and a path, and of the path only what differs from the start of
  the last path on that host;
- the parts of sentences, which many pages share, are numbered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tres.report.extracts import Extracts, best_first, permille
from tres.report.run_reader import PageRow
from tres.report.safe_html import Markup, element, harmless, harmless_inside, joined, link
from tres.topic.excerpt import Excerpt

SHOWN, TURNED = 100, 25
"""Pages in the table without a script, and on a leaf with one."""
TITLE = 120
"""Characters of a title that are kept."""


_PART = re.compile(r"(?<=[:,]) | (?=and )")
"""Where sentences are parted so that many share the parts; a blank joins them again."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Pages, why each was fetched, and what some of them say."""

    pages: Sequence[PageRow]
    whys: Sequence[str]
    extracts: Extracts

    def title(self, page: PageRow) -> str:
        """What a page calls itself, in one short line; empty if nothing is known."""
        title = harmless(page.title or self.extracts.titles.get(page.step, ""))
        return title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"

    def why(self, page: PageRow) -> str:
        """The reason for its choice."""
        return self.whys[page.step - 1]


@dataclass(slots=True)
class Numbers:
    """Numbers for texts that come again."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        """The number of a text; a new one gets the next."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def table(listed: Listed) -> Markup:
    """The most relevant pages."""
    rows = [_row(listed, page) for page in best_first(listed.pages)[:SHOWN]]
    head = [
        element("th", name, scope="col", data_key=key, data_name=name)
        for name, key in (
            ("step", "step"),
            ("page", "url"),
            ("relevance", "relevance"),
            ("value", "q"),
        )
    ]
    told = f"The {len(rows):,} most relevant of {len(listed.pages):,} pages"
    return element(
        "table",
        element("caption", told, id="shown", aria_live="polite"),
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        id="page-table",
        data_printed=SHOWN,
        data_size=TURNED,
    )


def compact(listed: Listed) -> Markup:
    """All pages as JSON in an element that is never executed."""
    text = json.dumps(_columns(listed), ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":  # nothing in it can end the element, or begin another
        text = text.replace(char, f"\\u{ord(char):04x}")
    return element("script", Markup(text), type="application/json", id="all-pages")


def _columns(listed: Listed) -> dict[str, object]:
    pages, parts = listed.pages, Numbers()
    return {
        **_addresses(pages),
        "title": [listed.title(page) for page in pages],
        "step": [page.step for page in pages],
        "relevance": [permille(page) for page in pages],
        "relevant": "".join(str(int(page.relevant)) for page in pages),
        "q": [None if page.q is None else round(100 * page.q) for page in pages],
        "why": [[parts.of(part) for part in _PART.split(listed.why(page))] for page in pages],
        "parts": parts.texts,
        "extract": {
            step: [harmless_inside(piece) for piece in text.pieces]
            for step, text in listed.extracts.texts.items()
        },
    }


def _addresses(pages: Sequence[PageRow]) -> dict[str, object]:
    hosts = Numbers()
    last: dict[str, str] = {}
    places: list[tuple[int, int, str]] = []
    for page in pages:
        host, path = _parted(harmless(page.url))
        shared = _shared(last.get(host, ""), path)
        places.append((hosts.of(host), shared, path[shared:]))
        last[host] = path
    return {
        "hosts": hosts.texts,
        "host": [host for host, _, _ in places],
        "shared": [shared for _, shared, _ in places],
        "path": [path for _, _, path in places],
    }


def _parted(url: str) -> tuple[str, str]:
    """A URL as its scheme and host, and the rest."""
    scheme, colon, rest = url.partition("://")
    if not colon:
        return "", url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}", slash + path


def _shared(one: str, other: str) -> int:
    """Characters that two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _row(listed: Listed, page: PageRow) -> Markup:
    """One page; the script makes rows of the same form."""
    title, text = listed.title(page), listed.extracts.texts.get(page.step)
    return element(
        "tr",
        element("td", f"{page.step}"),
        element(
            "td",
            element("bdi", link(page.url, title or page.url)),
            element("small", page.url) if title else None,
            _extract(text) if text else None,
            element("small", listed.why(page), class_="why"),
        ),
        element("td", f"{page.relevance:.2f}", joined(" ✓" if page.relevant else "")),
        element("td", "" if page.q is None else f"{page.q:.2f}"),
    )


def _extract(text: Excerpt) -> Markup:
    """The pieces of an extract; every second one is a keyword."""
    pieces = [
        element("mark", piece) if place % 2 else piece for place, piece in enumerate(text.pieces)
    ]
    return element("p", *pieces, dir="auto")
