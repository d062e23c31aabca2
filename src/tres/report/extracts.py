"""Extracts of pages, a few lines each, from the pages that the run has kept.

Reading a page again takes milliseconds, so only the `MOST` most relevant pages get an extract:
those that a report shows first. Archives also give the titles, which the journal of an offline
crawl does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tres.errors import TresError
from tres.report.run_reader import PageRow, RunReader
from tres.store.page_source import pages_of
from tres.topic.excerpt import Excerpt, excerpt
from tres.topic.keyword_forms import keyword_forms

MOST = 1000


@dataclass(slots=True)
class Extracts:
    """Titles and excerpts by step, and why some are missing, if they are."""

    titles: dict[int, str] = field(default_factory=dict)
    texts: dict[int, Excerpt] = field(default_factory=dict)
    note: str = ""


def best_first(pages: Sequence[PageRow]) -> list[PageRow]:
    """Sort pages by relevance, equal ones by step."""
    return sorted(pages, key=lambda page: (-permille(page), page.step))


def permille(page: PageRow) -> int:
    """Return the relevance in thousandths, as precisely as a report shows it."""
    return round(1000 * page.relevance)


def extracts_of(reader: RunReader, web: str | None = None, most: int = MOST) -> Extracts:
    """Return excerpts of the most relevant pages; `web` is where the run's archive is now."""
    topic, found = reader.config.topic, Extracts()
    terms = [*keyword_forms(topic.keywords), *topic.keywords, *topic.phrases]
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
