"""Judgements join the examples: what a person says counts more than a guess.

A run's first model learns from labelled examples or from guesses
(`tres.relevance.positive_unlabelled`). When a person judges pages of the run, a new model is
trained:

- A judged page weighs `JUDGED_WEIGHT` times as much as a guess, and replaces the guess about it.
- Guesses are used while there are few judgements, and left out from `ENOUGH` examples of the
  rarer class on (judged or labelled, seeds included).

`ENOUGH` is measured, not derived: the curves in docs/few-labels-measured.md show where examples
alone become better than examples and guesses together.
"""

from __future__ import annotations

from collections.abc import Mapping

from tres.relevance.examples import Examples

JUDGED_WEIGHT = 5.0
ENOUGH = 100


def weigh_as_judged(examples: Examples) -> Examples:
    """Give labelled examples the weight of judgements."""
    weights = (JUDGED_WEIGHT,) * len(examples.texts)
    return Examples(examples.texts, examples.labels, weights)


def add_judgements(
    examples: Examples, judgements: Mapping[str, bool], enough: int = ENOUGH
) -> Examples:
    """Join weighted examples or guesses with judgements (text -> relevant)."""
    weights = examples.weights or (1.0,) * len(examples.texts)
    rows = [
        row
        for row in zip(examples.texts, examples.labels, weights, strict=True)
        if row[0] not in judgements
    ]
    certain = [label for _, label, weight in rows if weight > 1.0] + list(judgements.values())
    if min(sum(certain), len(certain) - sum(certain)) >= enough:
        rows = [row for row in rows if row[2] > 1.0]
    rows += [(text, label, JUDGED_WEIGHT) for text, label in judgements.items()]
    return Examples(*(zip(*rows, strict=True) if rows else ((), (), ())))
