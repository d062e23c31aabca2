"""Linear features: the weight of each word in a linear model, as one more dimension of its vector.

Word vectors know what a word means in general; 150 pages are too few to teach a network what it
means *here*, least of all for technical words ("alsa", "sqlite") whose vectors are poor or
missing. A regularised linear model learns exactly that from the same pages: TF-IDF and logistic
regression (`tres.relevance.tfidf`) give every word a weight, idf times coefficient. The network
gets it as a further column of its table, and is free to use it, to doubt it in context, or to
overrule it.

The column must not leak the labels. A page whose words carry weights learnt from that very page
looks more certain than any new page will, and a network trained on such pages trusts the column
blindly. So the pages are split into folds; in training, the network sees each page with the
weights of a model fitted without the page's fold. New pages are read with the weights of the
model fitted on all pages.

The same holds for the linear model's logit, a shortcut past the LSTM which starts with weight 1,
so that the network begins as the linear model and learns what that one misses ("wide and deep":
Cheng et al., 2016). The logit is computed from the whole text, of which the LSTM reads the
beginning only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.relevance.neural.word_table import RaggedRows
from tres.relevance.tfidf import balanced_regression, content_terms, tfidf_vectors
from tres.relevance.training import stratified_folds

FOLDS = 10
MAX_DEVIATIONS = 8.0
"""Weights are clipped to so many standard deviations."""

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LinearModels:
    """Linear models over one vocabulary: a row of weights per model."""

    idf: Column
    """0 for words without a weight."""
    weights: NDArray[np.float32]
    """(models, words): idf times coefficient, clipped."""
    intercepts: NDArray[np.float32]
    scale: float
    """The standard deviation of the weights."""

    def word_features(self) -> NDArray[np.float32]:
        """The column of the table for each model: its weights, scaled to deviation 1."""
        return self.weights / np.float32(self.scale)

    def logits(self, texts: RaggedRows, model_of: NDArray[np.intp]) -> Column:
        """The logit of each text by its given model; 0 if that knows none of the words."""
        owner = np.repeat(np.arange(len(texts)), texts.lengths)
        cells, counts = np.unique(owner * len(self.idf) + texts.ids, return_counts=True)
        rows, ids = np.divmod(cells, len(self.idf))
        tf = 1.0 + np.log(counts)
        scores = np.bincount(rows, tf * self.weights[model_of[rows], ids], len(texts))
        norm = np.sqrt(np.bincount(rows, (tf * self.idf[ids]) ** 2, len(texts)))
        logits = scores / np.maximum(norm, 1e-9) + self.intercepts[model_of]
        return np.where(norm > 0, logits, 0.0).astype(np.float32)


def fit_linear_models(
    texts: Sequence[str], labels: Sequence[bool], vocabulary: Sequence[str], seed: int
) -> tuple[LinearModels, NDArray[np.intp]]:
    """Fit a model without each fold, and the last one on all pages; return also the folds."""
    from threadpoolctl import threadpool_limits

    truth = np.asarray(labels, np.bool_)
    folds = stratified_folds(truth, FOLDS, np.random.default_rng(seed))
    places, idf, rows = _vectorise(texts, vocabulary)
    with threadpool_limits(1):
        fits = [_fit(rows, idf, truth, folds != fold) for fold in (*range(FOLDS), None)]
    scale = max(float(fits[-1][0].std()), 1e-6) if len(idf) else 1.0
    limit = MAX_DEVIATIONS * scale
    weights = np.zeros((len(fits), len(vocabulary)), np.float32)
    weights[:, places] = np.clip([w for w, _ in fits], -limit, limit)
    full_idf = np.zeros(len(vocabulary), np.float32)
    full_idf[places] = idf
    intercepts = np.array([b for _, b in fits], np.float32)
    return LinearModels(full_idf, weights, intercepts, scale), folds


def _fit(
    rows: Any, idf: NDArray[np.float64], truth: NDArray[np.bool_], chosen: Any
) -> tuple[NDArray[np.float64], float]:
    chosen = np.broadcast_to(chosen, truth.shape)
    if not len(idf) or len(set(truth[chosen].tolist())) < 2:
        return np.zeros(len(idf)), 0.0
    regression = balanced_regression().fit(rows[chosen], truth[chosen])
    return regression.coef_[0] * idf, float(regression.intercept_[0])


def _vectorise(texts: Sequence[str], vocabulary: Sequence[str]) -> tuple[Any, Any, Any]:
    """TF-IDF over the words of the vocabulary: the places of the columns, their idf, the rows."""
    place = {word: i for i, word in enumerate(vocabulary)}

    def known_terms(text: str) -> list[str]:
        return [word for word in content_terms(text) if word in place]

    try:
        rows, names, idf = tfidf_vectors(texts, known_terms)
    except ValueError:  # no word occurs in two pages: there are no linear features
        return np.empty(0, np.intp), np.empty(0), None
    return np.array([place[name] for name in names], np.intp), idf, rows
