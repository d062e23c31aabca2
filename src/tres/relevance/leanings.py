"""Leanings: what a linear model thinks of each word, as one more dimension of its vector.

Word vectors know what a word means in general; 150 pages are too few to teach a network
what it means *here*, least of all for the words of a trade ("alsa", "sqlite") whose
vectors are poor or missing. A regularised linear model learns exactly that from the same
pages: TF-IDF and logistic regression (`tres.relevance.tfidf`) give every word a weight,
idf times coefficient. The network gets it as a further column of its table, and is free
to believe it, doubt it in context, or overrule it.

The column must not leak the answers. A page whose words carry weights that were learnt
from that very page looks more certain than any new page will: a network trained on that
trusts the column blindly. So the pages are dealt into folds; while it learns, the network
sees each page with the weights of a model that was fitted without the page's fold. New
pages are read with the weights of the model fitted on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.relevance.tfidf import MIN_PAGES, C, terms
from tres.topic.text import STOP_WORDS

FOLDS = 10
LIMIT = 8.0
"""Leanings are scaled to deviation 1 over the words that have one, and cut off here."""

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Leanings:
    """One number per word of a vocabulary: for new pages, and for each fold."""

    for_new: Column
    by_fold: NDArray[np.float32]
    fold_of: NDArray[np.intp]
    """The fold of each example."""


def learn_leanings(
    texts: Sequence[str], labels: Sequence[bool], vocabulary: Sequence[str], seed: int
) -> Leanings:
    """Fit the linear model on all pages, and once without each fold."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    truth = np.asarray(labels, np.bool_)
    folds = deal(truth, FOLDS, np.random.default_rng(seed))
    columns, idf, rows = _vectorise(texts, vocabulary)

    def fit(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        if not columns.size or len(set(truth[chosen].tolist())) < 2:
            return np.zeros(columns.size)
        model = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
        return np.asarray(model.fit(rows[chosen], truth[chosen]).coef_[0] * idf)

    with threadpool_limits(1):
        whole = fit(np.ones(len(truth), np.bool_))
        parts = [fit(folds != fold) for fold in range(FOLDS)]
    scale = 1.0 / max(float(whole.std()), 1e-6) if whole.size else 1.0

    def spread(weights: NDArray[np.float64]) -> Column:
        column = np.zeros(len(vocabulary), np.float32)
        column[columns] = np.clip(weights * scale, -LIMIT, LIMIT)
        return column

    return Leanings(spread(whole), np.stack([spread(part) for part in parts]), folds)


def deal(truth: NDArray[np.bool_], folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each example; every fold has its share of both classes."""
    dealt = np.empty(len(truth), np.intp)
    for members in (np.flatnonzero(truth), np.flatnonzero(~truth)):
        dealt[rng.permutation(members)] = np.arange(len(members)) % folds
    return dealt


def _vectorise(texts: Sequence[str], vocabulary: Sequence[str]) -> tuple[Any, Any, Any]:
    """TF-IDF rows over the words that lean: their places, their idf, the matrix."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    place = {word: i for i, word in enumerate(vocabulary)}

    def leaning(text: str) -> list[str]:
        return [word for word in terms(text) if word in place and word not in STOP_WORDS]

    try:
        vectoriser = TfidfVectorizer(analyzer=leaning, min_df=MIN_PAGES, sublinear_tf=True)
        rows = vectoriser.fit_transform(texts)
    except ValueError:  # no word in two pages: vectors must do without leanings
        return np.empty(0, np.intp), np.empty(0), None
    names = vectoriser.get_feature_names_out().tolist()
    return np.array([place[name] for name in names], np.intp), vectoriser.idf_, rows
