"""The process that answers questions: why a page was fetched, and what pages say.

`dashboard.query_process` starts and asks it. Sentences and numbers are those of `tres explain`; all
text from the Web is harmless by the time it leaves here.

The rows and the decision trees of the last few runs are cached. The tree of a running crawl is
grown from its journal, which takes seconds for a long one. Nodes never change their rule, so a
tree serves every page whose leaf is in it.
"""

from __future__ import annotations

import json
import select
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tres.dashboard.run_counts import Json, harmless, web_link
from tres.errors import ConfigError, RunError, TresError
from tres.frontier.leaf_rules import TreeView
from tres.numbers import format_count
from tres.report.explain.facts import Citation, Leaf, RunnerUp
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
from tres.runs.resume_run import tree_of
from tres.store.journal import JOURNAL, Journal
from tres.store.page_source import pages_of
from tres.store.run_directory import SUMMARY
from tres.topic.excerpt import CHARS, excerpt
from tres.topic.topic_terms import topic_terms
from tres.web.page import Page

CITING = 5
"""Citing pages that are shown, the most relevant; the others are counted."""
IDLE = 300.0
"""Seconds without a question after which the process ends."""
CACHED_RUNS = 2
PENDING = "its tree has not been grown yet"


@dataclass(slots=True)
class CachedRun:
    """The rows of a run, and its decision tree once it has been grown."""

    reader: RunReader
    tree: TreeView | None = None

    def explain(self, journal: Journal, step: int, wait: bool) -> Json:
        """Explain the page of a step; without `wait`, leave out a rule whose tree takes seconds."""
        run = self.reader.run

        def tree_with(node: int) -> TreeView:
            if self.tree is None or node >= len(self.tree.nodes):
                if not wait and not (run / SUMMARY).exists():
                    raise RunError(PENDING)
                self.tree = tree_of(run, journal)
            return self.tree

        explanation = explain_json(self.reader, journal, step, tree_with)
        return explanation | {"pending": explanation["leaf_note"] == PENDING}


class QueryHandler:
    """QueryProcess questions about runs."""

    def __init__(self) -> None:
        self._cached: dict[tuple[str, int], CachedRun] = {}

    def answer(self, question: Json) -> Json:
        """Return the answer, or `error` and its HTTP status."""
        try:
            with Journal.open(Path(question["run"]) / JOURNAL) as journal:
                run = self._run(journal, question["run"], question["edition"])
                if question["ask"] == "texts":
                    return excerpts(run.reader, question["steps"])
                return run.explain(journal, question["step"], question["wait"])
        except TresError as problem:
            status = 404 if isinstance(problem, ConfigError) else 409
            return {"error": problem.message, "status": status}

    def _run(self, journal: Journal, directory: str, edition: int) -> CachedRun:
        run = self._cached.pop((directory, edition), None)
        if run is None:
            run = CachedRun(RunReader(Path(directory), journal))
        else:
            run.reader.refresh(journal)
        self._cached[directory, edition] = run
        while len(self._cached) > CACHED_RUNS:
            del self._cached[next(iter(self._cached))]
        return run


def answer_queries(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer line by line until the questions end, or none comes for `IDLE` seconds."""
    handler = QueryHandler()
    while select.select([questions], [], [], IDLE)[0] and (line := questions.readline()):
        answers.write(json.dumps(handler.answer(json.loads(line))).encode() + b"\n")
        answers.flush()


def explain_json(reader: RunReader, journal: Journal, step: int, tree: TreeSource) -> Json:
    """Return why the page of a step was fetched."""
    if not 1 <= step <= len(reader.pages):
        pages = format_count(len(reader.pages), "page")
        raise ConfigError(f"the run has fetched {pages}; name one of them")
    page = explain_page(reader, journal, crawl_facts(reader), reader.pages[step - 1], tree)
    chosen, asked = page.decision, page.asked if page.asked != page.url else ""
    seen = () if chosen.how in ("seed", "search") else page.features
    return {
        "step": page.step,
        "title": harmless(page.title),
        "url": harmless(page.url),
        "href": web_link(page.url),
        "summary": summarize_page(page),
        "asked": harmless(asked),
        "path": [_citing_page(each) | {"title": harmless(each.title)} for each in page.path],
        **_cited(page.citations[1:]),
        "features": [[*value_and_label(each), each.name] for each in seen],
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
    """Return the most telling part of each kept page; every second piece is a keyword.

    Archives also give the titles.
    """
    terms = topic_terms(reader.config.topic)
    rows = [reader.pages[step - 1] for step in steps if 1 <= step <= len(reader.pages)]
    pages = pages_of(reader.run, ((row.record, row.url) for row in rows))
    kept = ((row, page) for row, page in zip(rows, pages, strict=True) if page is not None)
    return {"texts": {row.step: _excerpt(page, terms) for row, page in kept}}


def _excerpt(page: Page, terms: Iterable[str]) -> Json:
    pieces = excerpt(page.text, terms, 3 * CHARS // 2).pieces
    return {"title": harmless(page.title), "pieces": [harmless_piece(piece) for piece in pieces]}


def harmless_piece(text: str) -> str:
    """Return a harmless piece of text that keeps the blanks at its ends."""
    middle = harmless(text, len(text) + 1)  # an excerpt is short already
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' * before}{middle}{' ' * after}" if middle else " " * (before or after)


def _citing_page(page: Citation) -> Json:
    return {
        "step": page.step,
        "url": harmless(page.url),
        "anchor": harmless(page.anchor),
        "relevance": round(page.relevance, 4),
        "relevant": page.relevant,
    }


def _cited(citations: tuple[Citation, ...]) -> Json:
    best = sorted(citations, key=lambda each: (-each.relevance, each.step))[:CITING]
    cited = [_citing_page(each) for each in best]
    return {"cited": cited, "more_cited": len(citations) - len(best)}


def _leaf(leaf: Leaf | None) -> Json | None:
    if leaf is None or not leaf.conditions:
        return None
    return {
        "id": leaf.id,
        "conditions": [format_condition(each) for each in leaf.conditions],
        "fetched": leaf.fetched,
        "reward": round(leaf.mean_reward, 4),
    }


def _other(link: RunnerUp) -> Json:
    return {
        "url": harmless(link.url),
        "href": web_link(link.url),
        "value": link.q,
        "step": link.step,
        "relevant": link.relevant,
        "failure": link.failure,
    }
