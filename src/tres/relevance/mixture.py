"""The mixture of evidence: how much the affinity counts beside the words of the examples.

One regression learns from the words of a page and from its affinity to the topic, and penalises all
weights alike. So the scale of the affinity decides which of them is trusted before the examples
have spoken. Two things decide the scale:

- The number of examples. With four relevant ones the affinity must decide nearly alone, with 150
  the words do. The scale falls with the rarer class (`scale_for`): a crawl that has hardly met
  anything irrelevant has not learnt which words tell the difference either.
- Cross-validation (`chosen_scale`). Topics differ: of that scale and a quarter of it, the one is
  taken that ranks held-out pages better (average precision). Whole sites are held out where
  examples come from enough of them, because a crawl lives on sites that nobody has labelled.

Measured with 30, 300 and 1,150 labels: on sites never seen the best scales are 10 to 20, 3 to 10,
and any from 1 on; on sites seen before 10 to 20, 1 to 5, and as little as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.relevance.examples import Examples
from tres.relevance.tfidf import balanced_regression, tfidf_vectors
from tres.relevance.training import site_folds, stratified_folds

MIDDLE, FALL = 40.0, 1.5
"""So many examples of the rarer class give the scale 4; n times as many, n**FALL times less."""
LEAST, MOST = 0.5, 20.0
LESS = 0.25
"""The part of a scale that is tried as well."""
FOLDS = 5
LEAST_SITES = 10
"""With fewer sites of either class, folds are drawn from pages."""
ENOUGH_TO_CHOOSE = 10
"""Examples of the rarer class; with fewer, held-out pages decide by chance."""

Flags = NDArray[np.bool_]
Doubles = NDArray[np.float64]


def scale_for(labels: Flags) -> float:
    """Return by what the affinity is multiplied before the regression, for so many examples.

    >>> [scale_for(np.arange(1_000) < relevant).__round__(2) for relevant in (4, 40, 150, 999)]
    [20.0, 4.0, 0.55, 20.0]
    """
    return float(np.clip(4.0 * (MIDDLE / max(_rarer(labels), 1)) ** FALL, LEAST, MOST))


def chosen_scale(examples: Examples, affinity: Doubles) -> float:
    """Return the scale that ranks held-out examples best."""
    from sklearn.metrics import average_precision_score

    labels = np.asarray(examples.labels, np.bool_)
    scale = scale_for(labels)
    if _rarer(labels) < ENOUGH_TO_CHOOSE:
        return scale
    vectors = tfidf_vectors(examples.texts)[0]
    weights = np.asarray(examples.weights or np.ones(len(labels)))

    def score(scale: float) -> float:
        logits = cross_fitted(vectors, scale * affinity, labels, weights, examples.sites)
        return float(average_precision_score(labels, logits))

    return max((scale, LESS * scale), key=score)


def cross_fitted(
    vectors: Any, affinity: Doubles, labels: Flags, weights: Doubles, sites: Sequence[str] | None
) -> Doubles:
    """Return the log-odds of every page, from a regression that has not seen its fold."""
    from scipy.sparse import csr_matrix, hstack
    from threadpoolctl import threadpool_limits

    columns = hstack([vectors, csr_matrix(affinity[:, None])]).tocsr()
    fold_of = _folds(labels, sites)
    logits = np.zeros(len(labels))
    with threadpool_limits(1):  # faster here, and sums always have the same order
        for fold in np.unique(fold_of):
            train, test = fold_of != fold, fold_of == fold
            if labels[train].all() or not labels[train].any():
                continue
            regression = balanced_regression()
            regression.fit(columns[train], labels[train], sample_weight=weights[train])
            logits[test] = regression.decision_function(columns[test])
    return logits


def _folds(labels: Flags, sites: Sequence[str] | None) -> NDArray[np.intp]:
    rng = np.random.default_rng(0)
    names = np.asarray(sites if sites is not None else [""] * len(labels))
    if min(len(set(names[labels])), len(set(names[~labels]))) >= LEAST_SITES:
        return site_folds(labels, names.tolist(), FOLDS, rng)
    return stratified_folds(labels, FOLDS, rng)


def _rarer(labels: Flags) -> int:
    return int(min(labels.sum(), (~labels).sum()))
