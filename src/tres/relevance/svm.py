"""ACHE's page classifier: a linear SVM on word stems, with Platt scaling.

The paper compares its BiLSTM with this model (Table 1). The features of a page are the Porter
stems of its body and, as separate features, of its title; a feature is 1 if it occurs, however
often. The SVM has hinge loss, C = 0.01 and no class weights. Platt scaling turns its margin into a
probability: a logistic curve is fitted to the margins that each example gets from an SVM trained
without it, with targets drawn towards the middle, so that few examples give no certainty.

ACHE keeps stems that occur in more than 5 pages. That suits about a thousand examples; with fewer
the minimum falls in proportion, down to 2 pages.

Two differences from ACHE: pages of an archive have no meta tags, so there are no features for
them, and a text of one line, such as an anchor, is a body without a title.

Training uses scikit-learn; prediction is the stemmer and a few NumPy calls per batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from tres.relevance.batches import predict_distinct
from tres.relevance.model_files import WordWeightModel
from tres.relevance.tfidf import no_common_word
from tres.relevance.training import prior_probability, require_both_classes, training_record
from tres.topic.text import STOP_WORDS, words

KIND = "svm"
C = 0.01
MIN_PAGES = 6
"""A stem becomes known if it occurs in so many pages, given `FULL` examples or more."""
FULL = 1000
FOLDS = 5
BATCH = 512
TITLE = "="
"""Prefix of title stems; no word contains it."""

Floats = NDArray[np.float32]

_STEMMER = snowballstemmer.stemmer("porter")


@dataclass(frozen=True, eq=False)
class SvmModel(WordWeightModel):
    """The known stems with their weights, and the curve from margin to probability."""

    vocabulary: Mapping[str, int]
    weights: Floats
    intercept: float
    slope: float
    offset: float
    prior: float
    facts: Mapping[str, Any]
    kind: ClassVar[str] = KIND
    array_names: ClassVar[tuple[str, ...]] = ("weights",)
    scalar_names: ClassVar[tuple[str, ...]] = ("intercept", "slope", "offset", "prior")
    has_stems: ClassVar[bool] = True

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; texts that repeat, as anchors do, are read once."""
        return predict_distinct(texts, self._predict, BATCH)

    def _predict(self, texts: list[str]) -> Floats:
        index = self.vocabulary
        known = [sorted(index[f] for f in features(text) if f in index) for text in texts]
        lengths = np.fromiter(map(len, known), np.int64, len(texts))
        ids = np.fromiter(chain.from_iterable(known), np.int64, int(lengths.sum()))
        rows = np.repeat(np.arange(len(texts)), lengths)
        margins = np.bincount(rows, self.weights[ids], len(texts)) + self.intercept
        probabilities = np.exp(-np.logaddexp(0.0, -(self.slope * margins + self.offset)))
        return np.where(lengths > 0, probabilities, self.prior).astype(np.float32)

    def word_weights(self) -> dict[str, float]:
        """What each stem adds to the log-odds: in a title or in a body, whichever is more."""
        strongest: dict[str, float] = {}
        weights = (self.slope * self.weights).tolist()
        for feature, weight in zip(self.vocabulary, weights, strict=True):
            stem = feature.removeprefix(TITLE)
            if abs(weight) > abs(strongest.get(stem, 0.0)):
                strongest[stem] = weight
        return strongest


def features(text: str) -> set[str]:
    """The stems of the body, and those of the title with a prefix.

    >>> sorted(features("Cells\\nLiving cells"))
    ['=cell', 'cell', 'live']
    """
    title, newline, body = text.partition("\n")
    if not newline:
        title, body = "", title
    of_title = {TITLE + _stem(word) for word in set(words(title)) - STOP_WORDS}
    return of_title | {_stem(word) for word in set(words(body)) - STOP_WORDS}


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    """The Porter stem; words repeat, so nearly all come from the cache."""
    return cast(str, _STEMMER.stemWord(word))


def min_pages(examples: int) -> int:
    """Pages in which a stem must occur to become known."""
    return min(MIN_PAGES, max(2, round(MIN_PAGES * examples / FULL)))


def train_svm(texts: Sequence[str], labels: Sequence[bool], seed: int) -> SvmModel:
    """Fit the model; the seed decides the folds for Platt scaling."""
    from sklearn.feature_extraction.text import CountVectorizer
    from threadpoolctl import threadpool_limits

    require_both_classes(labels)
    truth = np.asarray(labels, np.bool_)
    least = min_pages(len(texts))
    vectoriser = CountVectorizer(analyzer=features, min_df=least, dtype=np.float64)
    with threadpool_limits(1):
        try:
            rows = vectoriser.fit_transform(texts)
        except ValueError:
            raise no_common_word(least, len(texts)) from None
        machine = _linear_svm().fit(rows, truth)
        slope, offset = platt_scaling(_held_out_margins(rows, truth, seed), truth)
    return SvmModel(
        vocabulary={stem: i for i, stem in enumerate(vectoriser.get_feature_names_out().tolist())},
        weights=np.asarray(machine.coef_.todense(), np.float32)[0],
        intercept=float(machine.intercept_[0]),
        slope=slope,
        offset=offset,
        prior=prior_probability(labels),
        facts=training_record(labels, seed, ["numpy", "scikit-learn", "snowballstemmer"]),
    )


def _linear_svm() -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=C)


def _held_out_margins(rows: Any, truth: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """The margin of every example, from an SVM trained without it."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = min(FOLDS, int(truth.sum()), int((~truth).sum()))
    if folds < 2:  # a class with one example: there is no margin but its own
        return np.asarray(_linear_svm().fit(rows, truth).decision_function(rows))
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return np.asarray(
        cross_val_predict(_linear_svm(), rows, truth, cv=splits, method="decision_function")
    )


def platt_scaling(margins: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset of the logistic curve from margin to probability.

    Platt's targets, (n + 1) / (n + 2) for relevant and 1 / (n + 2) for other examples, are
    fractions, so each example enters once as relevant and once as not, with these weights.
    """
    from sklearn.linear_model import LogisticRegression

    relevant, others = int(truth.sum()), int((~truth).sum())
    target = np.where(truth, (relevant + 1) / (relevant + 2), 1 / (others + 2))
    twice = np.concatenate([margins, margins])[:, None]
    outcome = np.repeat([True, False], len(margins))
    curve = LogisticRegression(C=1e6, max_iter=1000)
    curve.fit(twice, outcome, sample_weight=np.concatenate([target, 1 - target]))
    return float(curve.coef_[0, 0]), float(curve.intercept_[0])
