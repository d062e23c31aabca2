"""Judgements join the examples: what a person says counts more than what was guessed.

A run learns from examples that somebody labelled, or from guesses (`tres.relevance.pu`). When a
person judges pages of the run, the model is trained anew:

- A judged page weighs `JUDGED_WEIGHT` times a guess, and replaces the guess about it.
- Guesses stay as long as judgements are few. From `ENOUGH` examples of the rarer class on
  (judged or labelled, seeds included) the guesses are left out.

`ENOUGH` is measured, not derived: the curves in docs/few-labels-measured.md show from where on
examples alone are better than examples and guesses together.
"""

from __future__ import annotations

from collections.abc import Mapping

from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.pu import Guesses
from tres.relevance.tfidf import KIND as TFIDF
from tres.relevance.training import AUTO, CHOSEN, Start, train_model

JUDGED_WEIGHT = 5.0
ENOUGH = 100


def as_guesses(examples: Examples) -> Guesses:
    """Labelled examples: as sure as judgements."""
    count = len(examples.texts)
    return Guesses(examples.texts, tuple(examples.labels), (JUDGED_WEIGHT,) * count)


def with_judgements(before: Guesses, judged: Mapping[str, bool], enough: int = ENOUGH) -> Guesses:
    """Examples, guesses and judgements (text -> relevant) as one set of weighted examples."""
    kept = [
        (text, label, weight)
        for text, label, weight in zip(before.texts, before.labels, before.weights, strict=True)
        if text not in judged
    ]
    sure = [label for _, label, weight in kept if weight > 1.0] + list(judged.values())
    if min(sum(sure), len(sure) - sum(sure)) >= enough:
        kept = [example for example in kept if example[2] > 1.0]
    kept += [(text, label, JUDGED_WEIGHT) for text, label in judged.items()]
    texts, labels, weights = zip(*kept, strict=True) if kept else ((), (), ())
    return Guesses(texts, labels, weights)


def retrain(kind: str, examples: Guesses, seed: int, start: Start | None = None) -> RelevanceModel:
    """A model of the kind that the topic file names, from weighted examples.

    The TF-IDF model takes weights as they are; other kinds see an example as often as it weighs,
    compared with the lightest one.
    """
    if (CHOSEN if kind == AUTO else kind) == TFIDF:
        return examples.train(seed)
    chosen: dict[bool, list[str]] = {True: [], False: []}
    lightest = min(examples.weights, default=1.0)
    for text, label, weight in zip(examples.texts, examples.labels, examples.weights, strict=True):
        chosen[label] += [text] * round(weight / lightest)
    return train_model(kind, Examples(tuple(chosen[True]), tuple(chosen[False])), seed, start)
