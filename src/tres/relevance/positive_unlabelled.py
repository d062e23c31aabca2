"""Positive-unlabelled learning: a topic without labels, from keywords and a few relevant pages.

Given are *positives* (the seeds: relevant, but few), *unlabelled* pages (some are relevant, nobody
knows which), and the topic's *keywords*. Three steps:

1. Keyword scores. The score of a page is the share of its TF-IDF vector (length 1) that is
   keywords, plurals included. Keywords rank pages better than ten examples can.
2. A threshold. The score alone does not say where "relevant" begins. But a crawl that follows
   keywords gathers two groups of pages, with low and with high scores, and the threshold that
   separates them best (Otsu's: the largest variance between the groups) is where the guesses
   begin. The scores of the positives ("spies") could give a threshold too, but a few of them give
   a poor one: the median of three seeds may lie anywhere. If it is too high, hardly a page is
   guessed relevant and the model becomes too strict; if it is too low and the keywords are common
   words, it takes in most of the web. On four topics Otsu's threshold was better than the median
   of ten seeds, and much better than that of three (docs/few-labels-measured.md).
3. Self-training. A regression learns the guesses. As it is linear in thousands of words it cannot
   memorise the mistakes, and it finds relevant pages without keywords. Every page is scored by a
   regression that has not seen it (cross-fitting); this logit plus its keyword score gives the
   next guess. `ROUNDS` are enough: after two nothing improves.

Balanced class weights, as in `tres.relevance.tfidf`, take care of the class prior: relevant pages
found by following keywords do not show that relevant pages are common. Positives weigh
`POSITIVE_WEIGHT` times as much as a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.numbers import format_count
from tres.relevance.examples import Examples
from tres.relevance.tfidf import MIN_PAGES, balanced_regression, tfidf_vectors
from tres.topic.keyword_matcher import keyword_forms

ROUNDS = 2
FOLDS = 5
POSITIVE_WEIGHT = 3.0
LEAST_PAGES = 20

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def guess_labels(
    positives: Sequence[str], unlabelled: Sequence[str], keywords: Iterable[str]
) -> Examples:
    """Label the unlabelled texts; positives come first and stay relevant."""
    texts = (*positives, *unlabelled)
    _refuse_too_few(len(positives), len(texts))
    vectors, vocabulary = _vectors(texts)
    forms = keyword_forms(keywords)
    scores = vectors @ np.array([word in forms for word in vocabulary], np.float64)
    positive = np.arange(len(texts)) < len(positives)
    excess = (scores - otsu_threshold(scores[~positive])) / (scores.std() or 1.0)
    labels = positive | ((excess >= 0) & (scores > 0))
    weights = np.where(positive, POSITIVE_WEIGHT, 1.0)
    for _ in range(ROUNDS):
        _refuse_one_class(labels)
        labels = positive | (_cross_fitted_logits(vectors, labels, weights) + excess > 0)
    _refuse_one_class(labels)
    return Examples(texts, tuple(labels.tolist()), tuple(weights.tolist()))


def otsu_threshold(scores: Floats) -> float:
    """The lowest score of the upper of two groups with the largest variance between them.

    From "A threshold selection method from gray-level histograms" (Otsu, 1979).

    >>> otsu_threshold(np.array([0.1, 0.9, 0.0, 0.8, 0.2]))
    0.8
    """
    ranked = np.sort(scores)
    below = np.arange(1, len(ranked))
    sums = np.cumsum(ranked)
    low, high = sums[:-1] / below, (sums[-1] - sums[:-1]) / below[::-1]
    return float(ranked[1 + np.argmax(below * below[::-1] * (high - low) ** 2)])


def _vectors(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """TF-IDF vectors, one row per text, exactly as the final model will see them."""
    try:
        return tfidf_vectors(texts)[:2]
    except ValueError:
        raise TrainingError(
            f"no word occurs in {MIN_PAGES} of the {len(texts)} explored pages; "
            "name seeds that lead to pages with text"
        ) from None


def _cross_fitted_logits(vectors: Any, labels: Flags, weights: Floats) -> Floats:
    """The logit of every page, from a regression that did not learn from that page."""
    from threadpoolctl import threadpool_limits

    fold_of = np.empty(len(labels), np.intp)
    by_label = np.argsort(labels, kind="stable")  # gives every fold its share of both classes
    fold_of[by_label] = np.arange(len(labels)) % FOLDS
    logits = np.zeros(len(labels))
    with threadpool_limits(1):
        for fold in range(FOLDS):
            train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            regression = balanced_regression()
            regression.fit(vectors[train], labels[train], sample_weight=weights[train])
            logits[test] = regression.decision_function(vectors[test])
    return logits


def _refuse_too_few(positives: int, pages: int) -> None:
    if positives == 0 or pages < LEAST_PAGES:
        raise TrainingError(
            f"a topic cannot be learnt without labels from {format_count(pages, 'page')} "
            f"({format_count(positives, 'seed')}), {LEAST_PAGES} with a seed are needed; name "
            "seeds that link to more pages, or give examples (training.labels, or positives with "
            "negatives)"
        )


def _refuse_one_class(labels: Flags) -> None:
    """Cross-fitting needs both classes in every fold."""
    if min(labels.sum(), (~labels).sum()) < 2:
        share = "all" if labels.sum() > 1 else "none"
        raise TrainingError(
            f"{share} of the explored pages look relevant by their keywords; name more specific "
            "keywords, or give examples (training.labels, or positives with negatives)"
        )
