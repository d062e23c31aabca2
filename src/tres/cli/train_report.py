"""What `tres train` reports: scores, the reliability curve, the pages to read first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tres.errors import printable
from tres.numbers import format_count
from tres.relevance.cross_validation import CrossValidation

SHOWN = 10
"""Number of pages listed as least sure, and as worst mistakes."""


class Judged(NamedTuple):
    """The figures of a model on sites that it has seen, and on sites that it has never seen."""

    seen: CrossValidation
    never_seen: CrossValidation | str
    """Or why there is no such figure."""


def report(model: str, judged: Judged) -> Iterator[str]:
    """Yield the lines of the report."""
    seen = judged.seen
    yield (
        f"{model}: {len(seen.examples.relevant):,} relevant and "
        f"{len(seen.examples.irrelevant):,} other examples, "
        f"{format_count(len(seen.folds), 'fold')}"
    )
    yield from ("", *_scores(judged), "", *_curve(seen))
    yield from _pages("least sure", seen, seen.least_sure(SHOWN))
    yield from _pages("worst mistakes", seen, seen.worst_mistakes(SHOWN))


def _scores(judged: Judged) -> Iterator[str]:
    """Yield one column of scores, or two; and why, if it is one."""
    never = judged.never_seen
    if isinstance(never, str):
        yield f"{'':9}  sites seen"
        yield from (f"{label:9}  {shown}" for label, shown in _columns(judged.seen))
        yield f"\nThere are no figures for sites never seen: {never}."
    else:
        yield f"{'':9}  sites seen     sites never seen"
        for (label, seen), (_, unseen) in zip(_columns(judged.seen), _columns(never), strict=True):
            yield f"{label:9}  {seen}  {unseen}"


def _columns(judged: CrossValidation) -> Iterator[tuple[str, str]]:
    labels = ("precision", "recall", "macro F1")
    for label, mean, spread in zip(labels, judged.mean(), judged.spread(), strict=True):
        yield label, f"{mean:.3f} ± {spread:.3f}"


def _curve(judged: CrossValidation) -> Iterator[str]:
    yield "probability  pages  mean  actually relevant"
    for each in judged.reliability():
        bar = "#" * round(20 * each.relevant)
        yield (
            f"{each.low:.1f} to {each.high:.1f}  {each.pages:6,}  {each.mean:.2f}  "
            f"{each.relevant:.2f} {bar}".rstrip()
        )


def _pages(heading: str, judged: CrossValidation, places: list[int]) -> Iterator[str]:
    """Yield pages by title, escaped so that none can control the terminal."""
    yield from ("", heading)
    if not places:
        yield "  none"
    for place in places:
        truth = "relevant" if judged.truth[place] else "other"
        title = _title(judged.examples.texts[place])
        yield f"  {judged.probabilities[place]:.2f}  {truth:8}  {title}"


def _title(text: str) -> str:
    title, _, body = text.partition("\n")
    shown = " ".join((title.strip() or body[:200]).split()) or "(no text)"
    return printable(shown if len(shown) <= 70 else f"{shown[:67]}...")
