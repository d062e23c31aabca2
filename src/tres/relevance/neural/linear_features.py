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

The same goes for the linear model's answer as a whole, the `opinion`: a shortcut past the
LSTM which starts with weight 1, so that the network begins as the linear model and learns
what that one misses ("wide and deep": Cheng et al., 2016). It is formed from the whole
text, of which the LSTM reads the beginning only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.relevance.neural.word_rows import Batch
from tres.relevance.tfidf import MIN_PAGES, C, terms
from tres.topic.text import STOP_WORDS

FOLDS = 10
LIMIT = 8.0
"""Leanings are scaled to deviation 1 over the words that have one, and cut off here."""

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear model in numbers: one column per model, one row per word of a vocabulary."""

    idf: Column
    """0 for words that do not lean."""
    weights: NDArray[np.float32]
    """(models, words): idf times coefficient, cut off at `LIMIT` deviations."""
    intercepts: NDArray[np.float32]
    scale: float
    """The deviation of the weights: a leaning is a weight divided by it."""

    def leanings(self) -> NDArray[np.float32]:
        """The column of the table, once per model."""
        return self.weights / np.float32(self.scale)

    def opinions(self, texts: Batch, model_of: NDArray[np.intp]) -> Column:
        """What the given model of each text says of it, as a logit; 0 if it knows no word."""
        owner = np.repeat(np.arange(len(texts)), texts.lengths)
        cells, counts = np.unique(owner * len(self.idf) + texts.ids, return_counts=True)
        rows, ids = np.divmod(cells, len(self.idf))
        often = 1.0 + np.log(counts)
        said = np.bincount(rows, often * self.weights[model_of[rows], ids], len(texts))
        norm = np.sqrt(np.bincount(rows, (often * self.idf[ids]) ** 2, len(texts)))
        logits = said / np.maximum(norm, 1e-9) + self.intercepts[model_of]
        return np.where(norm > 0, logits, 0.0).astype(np.float32)


def learn_linear_features(
    texts: Sequence[str], labels: Sequence[bool], vocabulary: Sequence[str], seed: int
) -> tuple[Linear, NDArray[np.intp]]:
    """Linear models fitted on all pages (the last one) and without each fold, and the fold
    of every page."""
    from threadpoolctl import threadpool_limits

    truth = np.asarray(labels, np.bool_)
    folds = deal(truth, FOLDS, np.random.default_rng(seed))
    places, idf, rows = _vectorise(texts, vocabulary)
    with threadpool_limits(1):
        fits = [_fit(rows, idf, truth, folds != fold) for fold in (*range(FOLDS), None)]
    scale = max(float(fits[-1][0].std()), 1e-6) if len(idf) else 1.0
    weights = np.zeros((len(fits), len(vocabulary)), np.float32)
    weights[:, places] = np.clip([w for w, _ in fits], -LIMIT * scale, LIMIT * scale)
    full_idf = np.zeros(len(vocabulary), np.float32)
    full_idf[places] = idf
    intercepts = np.array([b for _, b in fits], np.float32)
    return Linear(full_idf, weights, intercepts, scale), folds


def _fit(
    rows: Any, idf: NDArray[np.float64], truth: NDArray[np.bool_], chosen: Any
) -> tuple[NDArray[np.float64], float]:
    from sklearn.linear_model import LogisticRegression

    chosen = np.broadcast_to(chosen, truth.shape)
    if not len(idf) or len(set(truth[chosen].tolist())) < 2:
        return np.zeros(len(idf)), 0.0
    model = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
    model.fit(rows[chosen], truth[chosen])
    return model.coef_[0] * idf, float(model.intercept_[0])


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
