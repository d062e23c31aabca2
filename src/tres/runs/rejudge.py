"""Judging the pages of a run again with its newest model.

A crawl judges a page once, when it is fetched. A better model comes later: from judgements, or from
what the crawl itself has shown. Here it reads the kept pages again, and what it says of them counts
from then on (`tres.store.verdicts`). The journal, and the rewards that the crawl has learnt from,
stay as they are.

The same model and the same pages give the same files, byte for byte. A page that the model has
judged before, in the crawl itself or here, is not read again, so judging a run that has grown
costs only its new pages.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tres.offline.web import Web
from tres.relevance.model import RelevanceModel
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_tables import Row
from tres.store.model_versions import newest_model
from tres.store.page_source import pages_of
from tres.store.run_directory import LockedError, lock_run, write_errors
from tres.store.run_results import rewrite_result
from tres.store.verdicts import ModelVerdicts, Verdicts, read_verdicts, write_verdicts
from tres.web.page import Page

BATCH = 64
"""Pages that are in memory and judged at a time."""

Advance = Callable[[int], object]
"""Receives how many pages more were dealt with."""


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What became of the verdicts on the pages of a run."""

    pages: int
    missing: int
    """Pages that could not be read again: they are what they were when they were fetched."""
    relevant: int
    """Relevant pages now."""
    now_relevant: int
    no_longer: int


class _Row(NamedTuple):
    """What the rule needs to know of a page, and where it is kept."""

    record: int
    step: int
    url: str
    relevance: float
    reward: bool


_Kept = tuple[_Row, str | None]


def rejudge_run(
    run: Path,
    web: Web | None = None,
    model: RelevanceModel | None = None,
    advance: Advance = lambda pages: None,
) -> Rejudged:
    """Judge the pages of a run whose lock is held with its newest model, or another; keep that.

    Pages come from where the run keeps them, or from a `web`. If the run has ended in good order,
    its result files are written again.
    """
    model = model or newest_model(run)
    with Journal.open(run / JOURNAL) as journal:
        rows = [_row(record, values) for record, values in journal.pages_after(0)]
        before = read_verdicts(run, journal)
        answers = _known(journal, before.newest, model.digest, rows)
        asked = [row for row in rows if answers[row.step - 1] is None]
        for batch in _batches(_contents(run, journal, asked, web)):
            for row, probability in _judge(model, batch):
                answers[row.step - 1] = probability
            advance(len(batch))
        with write_errors(run, remedy="free some space, then judge it again"):
            _keep(run, journal, before.newest, model.digest, answers)
            rewrite_result(run)
        return _compared(rows, before, read_verdicts(run, journal), answers.count(None))


def rejudge_idle_run(run: Path, web: Web | None = None) -> Rejudged | None:
    """Do this with a run that is not being crawled; None if it is."""
    with suppress(LockedError), lock_run(run):
        return rejudge_run(run, web)
    return None


def update_idle_run(run: Path) -> None:
    """Bring the result files of a run up to date with its judgements, unless it is crawled."""
    with suppress(LockedError), lock_run(run), write_errors(run, remedy="free some space"):
        rewrite_result(run)


def _row(record: int, values: Row) -> _Row:
    reward = bool(values["reward"])
    return _Row(record, values["step"], values["url"], values["relevance"], reward)


def _known(
    journal: Journal, newest: ModelVerdicts | None, model: str, rows: Sequence[_Row]
) -> list[float | None]:
    """What this very model has said before, when pages were fetched or again, step by step."""
    begins = journal.begins()
    starts = [record for record, _ in begins]
    again = newest.of if newest is not None and newest.model == model else lambda step: None

    def answer(row: _Row) -> float | None:
        first = begins[bisect(starts, row.record) - 1][1].model
        return row.relevance if first == model else again(row.step)

    return [answer(row) for row in rows]


def _contents(
    run: Path, journal: Journal, rows: Sequence[_Row], web: Web | None
) -> Iterator[_Kept]:
    """What pages say; of those that were not kept, what the journal has for learning from them."""
    texts: dict[str, str] | None = None
    for row, page in zip(rows, _pages(run, rows, web), strict=True):
        if page is not None:
            yield row, page.content
        else:
            texts = journal.page_texts() if texts is None else texts
            yield row, texts.get(row.url)


def _pages(run: Path, rows: Sequence[_Row], web: Web | None) -> Iterator[Page | None]:
    if not rows:
        return iter(())  # nothing needs to be opened
    if web is None:
        return pages_of(run, ((row.record, row.url) for row in rows))
    outcomes = (web.fetch(row.url) for row in rows)
    return (outcome if isinstance(outcome, Page) else None for outcome in outcomes)


def _batches(pages: Iterator[_Kept]) -> Iterator[list[_Kept]]:
    return iter(lambda: list(islice(pages, BATCH)), [])


def _judge(model: RelevanceModel, batch: Sequence[_Kept]) -> Iterator[tuple[_Row, float]]:
    kept = [(row, content) for row, content in batch if content is not None]
    if kept:
        probabilities = model.probabilities([content for _, content in kept]).tolist()
        yield from zip((row for row, _ in kept), probabilities, strict=True)


def _keep(
    run: Path,
    journal: Journal,
    old: ModelVerdicts | None,
    model: str,
    answers: Sequence[float | None],
) -> None:
    """Write the answers, unless there are none, or the same are kept already."""
    is_kept = old is not None and (old.model, old.probabilities) == (model, tuple(answers))
    if not is_kept and any(answer is not None for answer in answers):
        write_verdicts(run, journal, model, answers)


def _compared(rows: Sequence[_Row], before: Verdicts, after: Verdicts, missing: int) -> Rejudged:
    changes = [(before.of(*row[1:]).relevant, after.of(*row[1:]).relevant) for row in rows]
    return Rejudged(
        pages=len(rows),
        missing=missing,
        relevant=sum(now for _, now in changes),
        now_relevant=changes.count((False, True)),
        no_longer=changes.count((True, False)),
    )
