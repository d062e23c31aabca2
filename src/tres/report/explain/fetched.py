"""A page of the run: how it was found and chosen, and what came of it."""

from __future__ import annotations

import numpy as np

from tres.report.explain.decision import Trees, attributed_features, decision
from tres.report.explain.discovery import Trail, citations, descendants, trail, web_path
from tres.report.explain.facts import Citation, Consequences, Crawl, Fetched
from tres.report.explain.verdict import verdict
from tres.report.run_reader import PageRow, RunReader
from tres.runs.resuming import tree_of
from tres.store.journal import JOURNAL, Journal
from tres.store.records import Received
from tres.web.percept import Percept


def fetched(
    reader: RunReader,
    crawl: Crawl,
    page: PageRow,
    web: str | None = None,
    tree: Trees = lambda run, node: tree_of(run),
) -> Fetched:
    """All that can be told of it."""
    found = trail(reader.run, page.asked, page.record)
    chosen = decision(reader, page, found, tree)
    every = np.array([row.features for row in reader.pages], np.float32)
    vector = every[page.step - 1]
    return Fetched(
        crawl=crawl,
        url=page.url,
        asked=page.asked,
        step=page.step,
        title=page.title,
        site=page.site,
        relevance=page.relevance,
        relevant=page.relevant,
        path=web_path(reader.run, page, {row.url: row for row in reader.pages}),
        citations=_cited(reader, page, found),
        features=attributed_features(reader.features, vector, every, chosen.leaf),
        decision=chosen,
        consequences=_consequences(reader, page),
        verdict=verdict(reader, page, web),
        at=page.at,
        seconds=page.seconds,
    )


def _cited(reader: RunReader, page: PageRow, found: Trail) -> tuple[Citation, ...]:
    """Who linked to it when it was chosen; the page it was found through first."""
    steps = {row.record: row for row in reader.pages}
    known = citations(found, steps, found.demanded or page.record)
    return tuple(sorted(known, key=lambda each: (each.url != page.parent, each.step)))


def _consequences(reader: RunReader, page: PageRow) -> Consequences:
    with Journal.open(reader.run / JOURNAL) as journal:
        entry = journal.entry(page.record)
    percept = entry.outcome if isinstance(entry, Received) else None
    led_to = descendants(page, reader.pages)
    return Consequences(
        links=len(percept.links) if isinstance(percept, Percept) else 0,
        children=sum(row.parent == page.url for row in led_to),
        descendants=len(led_to),
        relevant_descendants=sum(row.relevant for row in led_to),
    )
