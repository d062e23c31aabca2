"""ACHE's page classifier: a linear SVM on word stems, with Platt scaling.

This is the model that the paper compares its BiLSTM with (Table 1). A page is the set of
the Porter stems of its body and, as features of their own, of its title; a feature is 1
if it occurs, however often. The SVM has hinge loss and C = 0.01, and gives the classes
no weights. Its margin becomes a probability by Platt's method: a logistic curve fitted
to margins that each example got from an SVM which had not seen it, with targets drawn
towards the middle, so that few examples give no certainty.

ACHE keeps stems that occur in more than 5 pages. That is meant for about a thousand
examples; with fewer ones the floor falls in proportion, down to 2 pages.

Two differences: pages of an archive have no meta tags, so there are no features of them,
and a text of one line, such as an anchor, is a body without a title.

Training uses scikit-learn; answering is the stemmer and a few NumPy calls per batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.batches import each_once
from tres.relevance.model_files import ModelFiles
from tres.relevance.provenance import count_relevant, origin
from tres.relevance.provenance import prior as prior_of
from tres.topic.text import STOP_WORDS, words

KIND = "svm"
C = 0.01
MIN_PAGES = 6
"""Pages in which a stem must occur, given `FULL` examples or more."""
FULL = 1000
FOLDS = 5
BATCH = 512
TITLE = "="
"""Marks the stems of a title; no word contains it."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SvmModel:
    """Known stems and their weights, and the curve from margin to probability."""

    vocabulary: Mapping[str, int]
    weights: Floats
    intercept: float
    slope: float
    offset: float
    prior: float
    facts: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        return self._files().digest

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; texts that repeat, as anchors do, are read once."""
        return each_once(texts, self._answer, BATCH)

    def _answer(self, texts: list[str]) -> Floats:
        found = [self._known(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        ids = np.fromiter(chain.from_iterable(found), np.int64, int(lengths.sum()))
        rows = np.repeat(np.arange(len(texts)), lengths)
        margins = np.bincount(rows, self.weights[ids], len(texts)) + self.intercept
        chances = np.exp(-np.logaddexp(0.0, -(self.slope * margins + self.offset)))
        return np.where(lengths > 0, chances, self.prior).astype(np.float32)

    def _known(self, text: str) -> list[int]:
        """The features of a text that the model knows, in a fixed order."""
        return sorted(self.vocabulary[f] for f in features(text) if f in self.vocabulary)

    def save(self, directory: Path) -> None:
        """Write the model into `directory`, replacing one that is there."""
        self._files().write(directory)

    def _files(self) -> ModelFiles:
        scalars = [self.intercept, self.slope, self.offset, self.prior]
        arrays: dict[str, NDArray[Any]] = {
            "weights": self.weights,
            "scalars": np.array(scalars, np.float64),
        }
        return ModelFiles(KIND, tuple(self.vocabulary), arrays, dict(self.facts))

    @classmethod
    def from_files(cls, files: ModelFiles) -> SvmModel:
        """The model that was saved; `ModelError` if the parts do not fit together."""
        vocabulary = files.words_with(["weights"], scalars=4)
        intercept, slope, offset, prior = files.arrays["scalars"].tolist()
        weights = files.arrays["weights"]
        return cls(vocabulary, weights, intercept, slope, offset, prior, files.facts)


def features(text: str) -> set[str]:
    """The stems of a body, and those of a title with a mark.

    >>> sorted(features("Cells\\nLiving cells"))
    ['=cell', 'cell', 'live']
    """
    title, newline, body = text.partition("\n")
    if not newline:
        title, body = "", title
    marked = {TITLE + each for each in _stems(words(title))}
    return marked | _stems(words(body))


def _stems(found: Iterable[str]) -> set[str]:
    return {_stem(word) for word in set(found) - STOP_WORDS}


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    """The Porter stem. Words repeat, so nearly all answers come from the cache."""
    return cast(str, _stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return snowballstemmer.stemmer("porter")


def min_pages(examples: int) -> int:
    """Pages in which a stem must occur to become known."""
    return min(MIN_PAGES, max(2, round(MIN_PAGES * examples / FULL)))


def train_svm(texts: Sequence[str], labels: Sequence[bool], seed: int) -> SvmModel:
    """Fit the model; the seed decides how Platt's folds are dealt."""
    from sklearn.feature_extraction.text import CountVectorizer
    from threadpoolctl import threadpool_limits

    count_relevant(labels)
    truth = np.asarray(labels, np.bool_)
    floor = min_pages(len(texts))
    vectoriser = CountVectorizer(analyzer=features, min_df=floor, dtype=np.float64)
    with threadpool_limits(1):
        try:
            rows = vectoriser.fit_transform(texts)
        except ValueError:
            raise TrainingError(
                f"no word occurs in {floor} of the {len(texts)} example pages; "
                "give more or longer examples"
            ) from None
        machine = _machine().fit(rows, truth)
        slope, offset = platt(_unseen_margins(rows, truth, seed), truth)
    return SvmModel(
        vocabulary={stem: i for i, stem in enumerate(vectoriser.get_feature_names_out().tolist())},
        weights=np.asarray(machine.coef_.todense(), np.float32)[0],
        intercept=float(machine.intercept_[0]),
        slope=slope,
        offset=offset,
        prior=prior_of(labels),
        facts=origin(labels, seed, ["numpy", "scikit-learn", "snowballstemmer"]),
    )


def _machine() -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=C)


def _unseen_margins(rows: Any, truth: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """The margin of every example, by a machine that was trained without it."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = min(FOLDS, int(truth.sum()), int((~truth).sum()))
    if folds < 2:  # a class of one example: its own margin is all there is
        return np.asarray(_machine().fit(rows, truth).decision_function(rows))
    dealt = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return np.asarray(
        cross_val_predict(_machine(), rows, truth, cv=dealt, method="decision_function")
    )


def platt(margins: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset of the logistic curve from margin to probability.

    Platt's targets, (n + 1) / (n + 2) for the relevant and 1 / (n + 2) for the others, are
    fractions; each example enters once as relevant and once not, with these weights.
    """
    from sklearn.linear_model import LogisticRegression

    yes, no = int(truth.sum()), int((~truth).sum())
    target = np.where(truth, (yes + 1) / (yes + 2), 1 / (no + 2))
    twice = np.concatenate([margins, margins])[:, None]
    outcome = np.repeat([True, False], len(margins))
    curve = LogisticRegression(C=1e6, max_iter=1000)
    curve.fit(twice, outcome, sample_weight=np.concatenate([target, 1 - target]))
    return float(curve.coef_[0, 0]), float(curve.intercept_[0])
