"""How good is a model? Cross-validation and what it tells (section 3.3, Table 1).

The examples are dealt into folds with equal shares of both classes; each fold is judged
by a model that was trained on all the others. So every page gets a probability from a
model that has never seen it. From these follow

- precision and recall of the relevant class, and macro F1 (the mean of both classes' F1),
  per fold: the mean says how good, the spread how sure that is;
- the reliability curve: of the pages given about 0.7, are seven in ten relevant?
- the pages that the models were least sure of, and their worst mistakes: what to read,
  and perhaps to relabel, first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.relevance.neural.linear_features import deal

Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Train = Callable[[Examples, int], RelevanceModel]
"""Trains a model on examples, for the fold of that number."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision and recall of the relevant class, and the mean F1 of both classes."""

    precision: float
    recall: float
    macro_f1: float

    @classmethod
    def of(cls, truth: Flags, said: Flags) -> Scores:
        """Scores of yes-or-no answers; what has no cases scores 0."""
        hits = int((truth & said).sum())
        false, missed = int((~truth & said).sum()), int((truth & ~said).sum())
        passed = int((~truth & ~said).sum())
        relevant = _share(2 * hits, 2 * hits + false + missed)
        other = _share(2 * passed, 2 * passed + false + missed)
        return cls(_share(hits, hits + false), _share(hits, hits + missed), (relevant + other) / 2)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Bin:
    """Pages whose probabilities lie between two bounds."""

    low: float
    high: float
    pages: int
    mean: float
    relevant: float
    """Share of these pages that is relevant: what `mean` should be."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of cross-validation; arrays go with the texts of the examples."""

    examples: Examples
    chances: Floats
    folds: tuple[Scores, ...]

    @property
    def truth(self) -> Flags:
        return np.array(self.examples.labels, np.bool_)

    def mean(self) -> Scores:
        """The mean over the folds."""
        return Scores(*(float(value) for value in self._table().mean(0)))

    def spread(self) -> Scores:
        """The standard deviation over the folds."""
        return Scores(*(float(value) for value in self._table().std(0)))

    def _table(self) -> NDArray[np.float64]:
        return np.array([(s.precision, s.recall, s.macro_f1) for s in self.folds])

    def reliability(self, bins: int = 10) -> list[Bin]:
        """The reliability curve, in bins of equal width; empty ones are left out."""
        place = np.minimum((self.chances * bins).astype(int), bins - 1)
        return [
            Bin(
                i / bins,
                (i + 1) / bins,
                int((place == i).sum()),
                float(self.chances[place == i].mean()),
                float(self.truth[place == i].mean()),
            )
            for i in range(bins)
            if (place == i).any()
        ]

    def least_sure(self, count: int) -> list[int]:
        """Examples with probabilities nearest to the threshold, nearest first."""
        return list(np.argsort(np.abs(self.chances - THRESHOLD), kind="stable")[:count])

    def worst(self, count: int) -> list[int]:
        """Examples judged wrongly, the surest mistake first."""
        gap = np.where(self.truth, THRESHOLD - self.chances, self.chances - THRESHOLD)
        wrong = np.flatnonzero(self.truth != (self.chances >= THRESHOLD))
        return list(wrong[np.argsort(-gap[wrong], kind="stable")][:count])


def cross_validate(examples: Examples, folds: int, seed: int, train: Train) -> Judgement:
    """Judge every example by a model that was trained without its fold."""
    _refuse_few(examples, folds)
    truth = np.array(examples.labels, np.bool_)
    dealt = deal(truth, folds, np.random.default_rng(seed))
    chances = np.empty(len(truth), np.float32)
    scores = []
    for fold in range(folds):
        held = np.flatnonzero(dealt == fold)
        model = train(_without(examples, dealt != fold), fold)
        chances[held] = model.probabilities([examples.texts[place] for place in held])
        scores.append(Scores.of(truth[held], chances[held] >= THRESHOLD))
    return Judgement(examples, chances, tuple(scores))


def _without(examples: Examples, kept: Sequence[bool] | Flags) -> Examples:
    border = len(examples.relevant)
    return Examples(
        tuple(text for text, k in zip(examples.relevant, kept[:border], strict=True) if k),
        tuple(text for text, k in zip(examples.irrelevant, kept[border:], strict=True) if k),
    )


def _refuse_few(examples: Examples, folds: int) -> None:
    """Every fold needs a page of each class, and so does what remains."""
    for name, texts in (("relevant", examples.relevant), ("irrelevant", examples.irrelevant)):
        if len(texts) < folds:
            raise TrainingError(
                f"{len(texts)} {name} example pages are too few for {folds} folds; "
                "give more examples or set training.folds lower"
            )
