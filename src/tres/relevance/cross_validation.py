"""How good is a model? Cross-validation (section 3.3, Table 1).

The examples are split into folds with equal shares of both classes; a model trained on all other
folds predicts each fold. So every page gets a probability from a model that has never seen it.
That model has seen other pages of the same site, though, and pages of one site are alike; a crawl
goes on to sites that nobody gave examples of. So examples from several sites are divided a second
time, with all pages of a site in one fold: then no model has seen the site of a page that it
predicts. From the probabilities follow

- precision and recall of the relevant class, and macro F1 (the mean of both classes' F1), per
  fold: the mean says how good the model is, the spread how certain that is;
- the reliability curve: of the pages given about 0.7, are seven in ten relevant?
- the pages that the models were least sure of, and their worst mistakes: the ones to read first,
  and perhaps to relabel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.numbers import format_count
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.relevance.training import site_folds, stratified_folds

LEAST_SITES = 5
"""Sites of each class, so that a figure on sites never seen does not hang on two or three."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Folds = NDArray[np.intp]
TrainFold = Callable[[Examples, int], RelevanceModel]
"""Trains a model on the examples outside the fold of that number."""


class Scores(NamedTuple):
    """Precision and recall of the relevant class, and the mean F1 of both classes."""

    precision: float
    recall: float
    macro_f1: float

    @classmethod
    def of(cls, truth: Flags, predicted: Flags) -> Scores:
        """Scores of predictions; a ratio without cases counts as 0."""
        tp, tn = int((truth & predicted).sum()), int((~truth & ~predicted).sum())
        fp, fn = int((~truth & predicted).sum()), int((truth & ~predicted).sum())
        f1_relevant = _ratio(2 * tp, 2 * tp + fp + fn)
        f1_other = _ratio(2 * tn, 2 * tn + fp + fn)
        return cls(_ratio(tp, tp + fp), _ratio(tp, tp + fn), (f1_relevant + f1_other) / 2)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Bin:
    """The pages with probabilities between two bounds."""

    low: float
    high: float
    pages: int
    mean: float
    relevant: float
    """The share of these pages that are relevant, which `mean` should equal."""


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The result: a probability for every example, and the scores of the folds."""

    examples: Examples
    probabilities: Floats
    folds: tuple[Scores, ...]

    @property
    def truth(self) -> Flags:
        return np.array(self.examples.labels, np.bool_)

    def mean(self) -> Scores:
        """The mean over the folds."""
        return Scores(*np.mean(self.folds, 0).tolist())

    def spread(self) -> Scores:
        """The standard deviation over the folds."""
        return Scores(*np.std(self.folds, 0).tolist())

    def reliability(self, bins: int = 10) -> list[Bin]:
        """The reliability curve, in bins of equal width; empty bins are left out."""
        bin_of = np.minimum((self.probabilities * bins).astype(int), bins - 1)
        return [
            Bin(
                i / bins,
                (i + 1) / bins,
                int((bin_of == i).sum()),
                float(self.probabilities[bin_of == i].mean()),
                float(self.truth[bin_of == i].mean()),
            )
            for i in range(bins)
            if (bin_of == i).any()
        ]

    def least_sure(self, count: int) -> list[int]:
        """The examples with probabilities nearest to the threshold, nearest first."""
        return list(np.argsort(np.abs(self.probabilities - THRESHOLD), kind="stable")[:count])

    def worst_mistakes(self, count: int) -> list[int]:
        """The examples predicted wrongly, the most certain mistake first."""
        certainty = np.abs(self.probabilities - THRESHOLD)
        wrong = np.flatnonzero(self.truth != (self.probabilities >= THRESHOLD))
        return list(wrong[np.argsort(-certainty[wrong], kind="stable")][:count])


def cross_validate(examples: Examples, folds: int, seed: int, train: TrainFold) -> CrossValidation:
    """Predict every example by a model that was trained without its fold."""
    _refuse_too_few(examples, folds)
    truth = np.array(examples.labels, np.bool_)
    return predict_folds(
        examples, stratified_folds(truth, folds, np.random.default_rng(seed)), train
    )


def predict_folds(examples: Examples, fold_of: Folds, train: TrainFold) -> CrossValidation:
    """Predict every example by a model that was trained without its fold (`fold_of`)."""
    truth = np.array(examples.labels, np.bool_)
    probabilities = np.empty(len(truth), np.float32)
    scores = []
    for fold in range(int(fold_of.max()) + 1):
        test = np.flatnonzero(fold_of == fold)
        model = train(examples.subset(np.flatnonzero(fold_of != fold).tolist()), fold)
        probabilities[test] = model.probabilities([examples.texts[i] for i in test])
        scores.append(Scores.of(truth[test], probabilities[test] >= THRESHOLD))
    return CrossValidation(examples, probabilities, tuple(scores))


def divide_by_site(examples: Examples, folds: int, seed: int) -> Folds | str:
    """Return the fold of each example, no site being in two folds, or why that is impossible."""
    if examples.sites is None:
        return "not every example names its site (rows of .jsonl files do so by url)"
    sites = np.array(examples.sites)
    if len(np.unique(sites)) == 1:
        return "all examples come from one site"
    truth = np.array(examples.labels, np.bool_)
    needed = max(folds, LEAST_SITES)
    for name, of_class in (("relevant", sites[truth]), ("irrelevant", sites[~truth])):
        if (found := len(np.unique(of_class))) < needed:
            held = format_count(found, "site")
            return f"the {name} examples come from {held}, and {needed} are needed"
    fold_of = site_folds(truth, examples.sites, folds, np.random.default_rng(seed))
    if any(len(np.unique(fold_of[truth == each])) < folds for each in (True, False)):
        return f"the sites do not give relevant and irrelevant pages to each of {folds} folds"
    return fold_of


def _refuse_too_few(examples: Examples, folds: int) -> None:
    """Every fold needs a page of each class, and so do the other folds together."""
    for name, texts in (("relevant", examples.relevant), ("irrelevant", examples.irrelevant)):
        if len(texts) < folds:
            are = "page is" if len(texts) == 1 else "pages are"
            raise TrainingError(
                f"{len(texts)} {name} example {are} too few for {folds} folds; "
                "give more examples or set training.folds lower"
            )
