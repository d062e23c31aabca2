"""Why a page was fetched, and what a page says: for the browser to lay out.

Sentences and numbers are those of `tres explain`. All text of the Web is harmless by the time it
leaves here.
"""

from __future__ import annotations

from collections.abc import Iterable

from tres.dashboard.run_counts import Json, harmless, link
from tres.errors import ConfigError
from tres.report.explain.facts import Citation, Fetched, Leaf, PathStep, RunnerUp
from tres.report.explain.fetched_page import TreeSource, explain_page
from tres.report.explain.gather import crawl_facts
from tres.report.explain.sentences import (
    describe_outcome,
    describe_verdict,
    explain_value,
    summarize_page,
)
from tres.report.feature_labels import format_condition, value_and_label
from tres.report.run_reader import RunReader
from tres.store.journal import Journal
from tres.store.page_source import pages_of
from tres.topic.excerpt import CHARS, excerpt
from tres.topic.keyword_forms import keyword_forms
from tres.web.page import Page

CITING = 5
"""Citing pages that are shown, the most relevant; the others are counted."""


def explained(reader: RunReader, journal: Journal, step: int, tree: TreeSource) -> Json:
    """Why the page of a step was fetched."""
    if not 1 <= step <= len(reader.pages):
        raise ConfigError(f"the run has fetched {len(reader.pages):,} pages; name one of them")
    page = explain_page(reader, journal, crawl_facts(reader), reader.pages[step - 1], tree)
    chosen, asked = page.decision, page.asked if page.asked != page.url else ""
    return {
        "step": page.step,
        "title": harmless(page.title),
        "url": harmless(page.url),
        "href": link(page.url),
        "summary": summarize_page(page),
        "asked": harmless(asked),
        "path": [_on_the_way(each) for each in page.path],
        **_cited(page.citations[1:]),
        "features": [
            [*value_and_label(each), each.name] for each in page.features if _is_seen(page)
        ],
        "leaf": _leaf(chosen.leaf),
        "leaf_note": chosen.leaf_note,
        "value": chosen.q,
        "candidates": chosen.candidates,
        "meaning": explain_value(page),
        "others": [_other(each) for each in chosen.runners_up],
        "outcome": describe_outcome(page),
        "judged": describe_verdict(page.verdict, page.relevant),
    }


def excerpts(reader: RunReader, steps: Iterable[int]) -> Json:
    """The part of each page that shows best what it is about; every second piece is a keyword.

    Nothing of pages that were not kept; over an archive titles are found as well.
    """
    topic = reader.config.topic
    terms = [*keyword_forms(topic.keywords), *topic.keywords, *topic.phrases]
    rows = [reader.pages[step - 1] for step in steps if 1 <= step <= len(reader.pages)]
    pages = pages_of(reader.run, ((row.record, row.url) for row in rows))
    return {
        "texts": {
            row.step: _said(page, terms)
            for row, page in zip(rows, pages, strict=True)
            if page is not None
        }
    }


def _said(page: Page, terms: Iterable[str]) -> Json:
    pieces = excerpt(page.text, terms, 3 * CHARS // 2).pieces
    return {"title": harmless(page.title), "pieces": [harmless_piece(piece) for piece in pieces]}


def harmless_piece(text: str) -> str:
    """A piece of text that keeps the blanks at its ends."""
    middle = harmless(text, len(text) + 1)  # an excerpt is short already
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' * before}{middle}{' ' * after}" if middle else " " * (before or after)


def _is_seen(page: Fetched) -> bool:
    """Did the policy look at the link at all?"""
    return page.decision.how not in ("seed", "search")


def _on_the_way(page: PathStep) -> Json:
    return _linking(page) | {"title": harmless(page.title)}


def _linking(page: PathStep | Citation) -> Json:
    return {
        "step": page.step,
        "url": harmless(page.url),
        "anchor": harmless(page.anchor),
        "relevance": round(page.relevance, 4),
        "relevant": page.relevant,
    }


def _cited(citations: tuple[Citation, ...]) -> Json:
    best = sorted(citations, key=lambda each: (-each.relevance, each.step))[:CITING]
    return {
        "cited": [_linking(each) for each in best],
        "more_cited": len(citations) - len(best),
    }


def _leaf(leaf: Leaf | None) -> Json | None:
    if leaf is None or not leaf.conditions:
        return None
    return {
        "id": leaf.id,
        "conditions": [format_condition(each) for each in leaf.conditions],
        "fetched": leaf.fetched,
        "reward": round(leaf.mean_reward, 4),
    }


def _other(link_: RunnerUp) -> Json:
    return {
        "url": harmless(link_.url),
        "href": link(link_.url),
        "value": link_.q,
        "step": link_.step,
        "relevant": link_.relevant,
        "failure": link_.failure,
    }
