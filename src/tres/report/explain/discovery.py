"""How a URL was found: the pages that link to it, its web path, the moment it was chosen.

The journal is looked through once for records that name the URL, and only those are read in
full. What was known when a URL was chosen stands before the demand that chose it: with several
pages in flight, more may have become known until it came back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tres.report.explain.facts import Citation, PathStep
from tres.report.run_reader import PageRow
from tres.store.journal import JOURNAL, Journal
from tres.store.records import Demanded, Entry, Received, Seeds
from tres.web.percept import Percept


@dataclass(frozen=True, slots=True)
class Trail:
    """What the journal says about one URL."""

    is_seed: bool
    demanded: int | None
    """The record of the demand that chose it."""
    citing: tuple[tuple[int, str], ...]
    """Records of pages that link to it, and their anchors."""


def trail(run: Path, url: str, before: int | None = None) -> Trail:
    """Look the journal through for a URL, up to a record if one is given."""
    is_seed, demanded, citing = False, None, []
    with Journal.open(run / JOURNAL) as journal:
        for record, entry in journal.naming(url, before):
            match entry:
                case Seeds(links):
                    is_seed = url in links.urls
                case Demanded(urls=urls) if url in urls:
                    demanded = demanded or record
                case Received(outcome=Percept(links=links)) if url in links.urls:
                    citing.append((record, anchor_of(entry, url)))
                case _:
                    pass
    return Trail(is_seed, demanded, tuple(citing))


def citations(
    found: Trail, steps: Mapping[int, PageRow], before: int | None = None
) -> tuple[Citation, ...]:
    """The pages that link to it, by the records of steps; only those before a record, if given."""
    return tuple(
        Citation(page.step, page.url, anchor, page.relevance, page.relevant)
        for record, anchor in found.citing
        if (before is None or record < before) and (page := steps.get(record)) is not None
    )


def web_path(run: Path, page: PageRow, by_url: Mapping[str, PageRow]) -> tuple[PathStep, ...]:
    """The pages from the seed to this one, each with the anchor of the link that led to it."""
    rows = [page]
    while (parent := by_url.get(rows[-1].parent or "")) is not None and parent not in rows:
        rows.append(parent)
    with Journal.open(run / JOURNAL) as journal:
        anchors = [
            anchor_of(journal.entry(above.record), row.asked) for row, above in pairwise(rows)
        ]
    return tuple(
        PathStep(row.step, row.url, row.title, anchor, row.relevance, row.relevant)
        for row, anchor in zip(rows[::-1], ["", *anchors[::-1]], strict=True)
    )


def anchor_of(entry: Entry, url: str) -> str:
    """What the link to a URL says on the page of a record."""
    if isinstance(entry, Received) and isinstance(entry.outcome, Percept):
        links = entry.outcome.links
        if links.anchors and url in links.urls:
            return links.anchors[links.urls.index(url)]
    return ""


def descendants(page: PageRow, pages: Sequence[PageRow]) -> list[PageRow]:
    """The pages whose web paths lead through this one; parents always come before children."""
    through = {page.url}
    led_to = []
    for row in pages[page.step :]:
        if row.parent in through:
            through.add(row.url)
            led_to.append(row)
    return led_to
