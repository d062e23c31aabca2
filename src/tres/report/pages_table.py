"""The pages of a run: a table to read, and all of them as compact JSON.

The `PRINTED` most relevant pages are in the table, so that it can be read and printed without a
script. All pages follow as JSON that browsers do not execute; the page's script sorts, filters and
pages through the table from there. Twenty thousand pages must stay below five megabytes, so:

- values are in columns, not in objects with names;
- a URL is the number of its host and a path, without the prefix that it shares with the last path
  on that host;
- the parts of sentences, which many pages share, are numbered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tres.errors import TresError
from tres.numbers import format_count
from tres.report.run_reader import PageRow, RunReader
from tres.report.safe_html import Markup, element, harmless, harmless_inside, joined, link
from tres.store.judgements import PERSON, TEACHER
from tres.store.page_source import pages_of
from tres.topic.excerpt import Excerpt, excerpt
from tres.topic.topic_terms import topic_terms

PRINTED, SHOWN = 100, 25
"""Rows of the table without the script and in print, and with the script on a screen."""
JUDGES = {PERSON: "you said so", TEACHER: "a language model said so"}
"""Who judged a page, where it was not a model of the run."""
TITLE = 120
"""Characters of a title that are kept."""
EXTRACTS = 1000
"""Pages with an extract, the most relevant: reading a page again takes milliseconds."""
_PART = re.compile(r"(?<=[:,]) | (?=and )")
"""Where sentences are split into parts that many pages share; a blank joins them again."""


@dataclass(slots=True)
class Extracts:
    """Titles and excerpts by step, and why some are missing, if they are.

    Archives also give the titles, which the journal of an offline crawl does not have.
    """

    titles: dict[int, str] = field(default_factory=dict)
    texts: dict[int, Excerpt] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class PageList:
    """Pages, why each was fetched, and extracts of some."""

    pages: Sequence[PageRow]
    whys: Sequence[str]
    extracts: Extracts

    def title(self, page: PageRow) -> str:
        """Return the title of a page in one short line; empty if it is not known."""
        title = harmless(page.title or self.extracts.titles.get(page.step, ""))
        return title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"

    def why(self, page: PageRow) -> str:
        """Return why a page was fetched."""
        return self.whys[page.step - 1]


@dataclass(slots=True)
class TextTable:
    """Numbers for repeated texts."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        """Return the number of a text; a new text gets the next one."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def best_first(pages: Sequence[PageRow]) -> list[PageRow]:
    """Sort pages by relevance, equal ones by step."""
    return sorted(pages, key=lambda page: (-permille(page), page.step))


def permille(page: PageRow) -> int:
    """Return the relevance in thousandths, as precisely as a report shows it."""
    return round(1000 * page.relevance)


def extracts_of(reader: RunReader, web: str | None = None, most: int = EXTRACTS) -> Extracts:
    """Return excerpts of the most relevant pages; `web` is where the run's archive is now."""
    terms, found = topic_terms(reader.config.topic), Extracts()
    rows = best_first(reader.pages)[:most]
    try:
        pages = pages_of(reader.run, ((row.record, row.url) for row in rows), web)
        for row, page in zip(rows, pages, strict=True):
            if page is not None:
                found.titles[row.step] = row.title or page.title
                found.texts[row.step] = excerpt(page.text, terms)
    except TresError as problem:  # the report is worth having without them
        found.note = problem.message
    if not found.texts and not found.note:
        found.note = "the run has not kept its pages"
    return found


def table(listed: PageList) -> Markup:
    """Return the table of the most relevant pages."""
    rows = [_row(listed, page) for page in best_first(listed.pages)[:PRINTED]]
    head = [
        element("th", name, scope="col", data_key=key, data_name=name)
        for name, key in (
            ("step", "step"),
            ("page", "url"),
            ("relevance", "relevance"),
            ("value", "q"),
        )
    ]
    caption = f"The {len(rows):,} most relevant of {len(listed.pages):,} pages"
    if len(rows) == len(listed.pages):
        caption = format_count(len(rows), "page") if rows else "No pages"
    return element(
        "table",
        element("caption", caption, id="shown", aria_live="polite"),
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        id="page-table",
        data_printed=PRINTED,
        data_size=SHOWN,
    )


def compact(listed: PageList) -> Markup:
    """Return all pages as JSON in an element that is never executed."""
    text = json.dumps(_columns(listed), ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":  # nothing in it can end the element, or begin another
        text = text.replace(char, f"\\u{ord(char):04x}")
    return element("script", Markup(text), type="application/json", id="all-pages")


def _columns(listed: PageList) -> dict[str, object]:
    pages, parts = listed.pages, TextTable()
    return {
        **_addresses(pages),
        "title": [listed.title(page) for page in pages],
        "step": [page.step for page in pages],
        "relevance": [permille(page) for page in pages],
        "relevant": "".join(str(int(page.relevant)) for page in pages),
        "judged": {page.step: JUDGES[page.judged_by] for page in pages if page.judged_by in JUDGES},
        "q": [None if page.q is None else round(100 * page.q) for page in pages],
        "why": [[parts.of(part) for part in _PART.split(listed.why(page))] for page in pages],
        "parts": parts.texts,
        "extract": {
            step: [harmless_inside(piece) for piece in text.pieces]
            for step, text in listed.extracts.texts.items()
        },
    }


def _addresses(pages: Sequence[PageRow]) -> dict[str, object]:
    hosts = TextTable()
    last: dict[str, str] = {}
    places: list[tuple[int, int, str]] = []
    for page in pages:
        host, path = _split_url(harmless(page.url))
        shared = _shared(last.get(host, ""), path)
        places.append((hosts.of(host), shared, path[shared:]))
        last[host] = path
    return {
        "hosts": hosts.texts,
        "host": [host for host, _, _ in places],
        "shared": [shared for _, shared, _ in places],
        "path": [path for _, _, path in places],
    }


def _split_url(url: str) -> tuple[str, str]:
    """Split a URL into scheme with host, and the rest."""
    scheme, colon, rest = url.partition("://")
    if not colon:
        return "", url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}", slash + path


def _shared(one: str, other: str) -> int:
    """Length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _row(listed: PageList, page: PageRow) -> Markup:
    """One row; the script builds rows of the same form."""
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
        element(
            "td",
            f"{page.relevance:.2f}",
            joined(" ✓" if page.relevant else ""),
            element("small", JUDGES[page.judged_by]) if page.judged_by in JUDGES else None,
        ),
        element("td", "" if page.q is None else f"{page.q:.2f}"),
    )


def _extract(text: Excerpt) -> Markup:
    """An extract; every second piece is a keyword."""
    pieces = [
        element("mark", piece) if place % 2 else piece for place, piece in enumerate(text.pieces)
    ]
    return element("p", *pieces, dir="auto")
