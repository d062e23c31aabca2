"""The pages of a run: a table to read, and all of them in little room.

The first `SHOWN` pages stand in the table as they are, so that it can be read and printed without
any script. All pages follow as JSON that no browser executes; the page's script sorts, filters and
turns over the leaves of the table from there. Twenty thousand pages must stay below five
megabytes, so:

- values stand in columns, not in objects with names;
- a URL is the number of its host and a path, and of the path only what differs from the start of
  the last path on that host;
- rules, which many pages share, are numbered.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tres.report.markup import Markup, element, harmless, joined, link
from tres.report.reader import PageRow
from tres.report.words import Rule, kind_of, reason, rule_behind

SHOWN = 100
TITLE = 120
"""Characters of a title that are kept."""


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


def table(pages: Sequence[PageRow], rule: Rule) -> Markup:
    """The first pages, in the order in which they were fetched."""
    rows = [_row(page, rule) for page in pages[:SHOWN]]
    head = [
        element("th", name, scope="col", data_key=key, data_name=name)
        for name, key in (("step", "step"), ("page", "url"), ("relevance", "relevance"), ("Q", "q"))
    ]
    told = f"The first {len(rows):,} of {len(pages):,} pages"
    return element(
        "table",
        element("caption", told, id="shown", aria_live="polite"),
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        id="page-table",
        data_size=SHOWN,
    )


def title_of(page: PageRow) -> str:
    """What a page calls itself, in one short line; its URL if that is nothing."""
    title = harmless(page.title) or page.url
    return title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"


def compact(pages: Sequence[PageRow], rule: Rule) -> Markup:
    """All pages as JSON in an element that is never executed."""
    text = json.dumps(_columns(pages, rule), ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":  # nothing in it can end the element, or begin another
        text = text.replace(char, f"\\u{ord(char):04x}")
    return element("script", Markup(text), type="application/json", id="all-pages")


def _columns(pages: Sequence[PageRow], rule: Rule) -> dict[str, object]:
    hosts, rules = Numbers(), Numbers()
    last: dict[str, str] = {}
    places: list[tuple[int, int, str]] = []
    for page in pages:
        host, path = _parted(harmless(page.url))
        shared = _shared(last.get(host, ""), path)
        places.append((hosts.of(host), shared, path[shared:]))
        last[host] = path
    whys = [rules.of(rule_behind(page, rule)) for page in pages]
    return {
        "hosts": hosts.texts,
        "rules": rules.texts,
        "host": [host for host, _, _ in places],
        "shared": [shared for _, shared, _ in places],
        "path": [path for _, _, path in places],
        "title": ["" if not page.title else title_of(page) for page in pages],
        "step": [page.step for page in pages],
        "relevance": [round(1000 * page.relevance) for page in pages],
        "relevant": "".join(str(int(page.relevant)) for page in pages),
        "kind": [kind_of(page) for page in pages],
        "rule": whys,
        "q": [None if page.q is None else round(100 * page.q) for page in pages],
        "among": [page.candidates for page in pages],
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


def _row(page: PageRow, rule: Rule) -> Markup:
    """One page; the script makes rows of the same form."""
    return element(
        "tr",
        element("td", f"{page.step}"),
        element(
            "td",
            element("bdi", link(page.url, title_of(page))),
            element("small", page.url) if page.title else None,
            element("small", reason(page, rule)),
        ),
        element("td", f"{page.relevance:.2f}", joined(" ✓" if page.relevant else "")),
        element("td", "" if page.q is None else f"{page.q:.2f}"),
    )
