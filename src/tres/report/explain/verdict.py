"""Who judged a page, and by which of its words.

The run keeps its models and, unless it was told not to, its pages; so the judge of then can be
asked again about the text of then. Where one of them is gone, the note says so.
"""

from __future__ import annotations

from pathlib import Path

from tres.errors import TresError
from tres.relevance.word_attribution import Attribution, attributed_words
from tres.report.explain.facts import Verdict
from tres.report.run_reader import PageRow, RunReader
from tres.store.journal import JOURNAL, Journal
from tres.store.model_versions import model_of
from tres.store.page_source import page_of

STRAYED = 0.02
"""How far a page that is judged again may be from what was said of it then."""


def verdict(reader: RunReader, page: PageRow, web: str | None) -> Verdict:
    """The judge of a page, and the words that moved it."""
    judges = list(dict.fromkeys(segment.model for segment in reader.segments))
    with Journal.open(reader.run / JOURNAL) as journal:
        judge = journal.judge_of(page.record)
    telling, note = _asked_again(reader.run, page, judge, web)
    number = judges.index(judge) + 1 if judge in judges else 1
    return Verdict(judge, number, max(len(judges), 1), note, telling)


def _asked_again(
    run: Path, page: PageRow, judge: str, web: str | None
) -> tuple[Attribution | None, str]:
    try:
        kept = page_of(run, page.record, page.url, web)
        if kept is None:
            return None, "the run has not kept its pages, so their words cannot be told"
        telling = attributed_words(model_of(run, judge), kept.content)
    except TresError as problem:  # everything else can be told all the same
        return None, problem.message
    if abs(telling.probability - page.relevance) > STRAYED:
        return telling, (
            f"judged again from what was kept, it gets {telling.probability:.2f} "
            f"instead of {page.relevance:.2f}"
        )
    return telling, ""
