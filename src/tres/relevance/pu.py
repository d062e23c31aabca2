"""Learning without labels: from a few pages that are relevant, and many that nobody judged.

Positive-unlabelled learning. Given are *positives* (the seeds: relevant, but few), *unlabelled*
pages (some are relevant, nobody knows which), and the topic's *keywords*. Three steps:

1. A keyword start. Every page gets a score k: the share of its TF-IDF vector (length 1) that
   is keywords, plural forms included. Keywords rank pages better than ten examples can.
2. A gap. The score alone does not say where "relevant" begins. But following keywords gathers two
   groups of pages, with low scores and with high ones, and the border that parts them best
   (Otsu's: the largest variance between the groups) is where the guesses begin. The scores of
   the positives would tell it too ("spies"), but a few of them tell it badly: the median of three
   seeds may lie anywhere. If it lies high, hardly a page is guessed relevant and the model becomes
   too strict; where keywords are common words and it lies low, it takes most of the web with it.
   On four topics the gap was better than the median of ten seeds, and much better than that of
   three (docs/few-labels-measured.md).
3. Self-training. A regression learns the guesses; being linear in thousands of words it cannot
   learn the mistakes by heart, and finds the relevant pages that lack keywords. Every page is
   judged by a regression that has not seen it (cross-fitting); this judgement plus its keyword
   score gives the next guess. `ROUNDS` such rounds are enough: after two nothing improves.

The class prior is taken care of by balanced weights, as in `tres.relevance.tfidf`: a relevant
page found by following keywords is no sign that relevant pages are common. Positives weigh
`POSITIVE_WEIGHT` times a guess. The result is a model of the TF-IDF kind and the guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.tfidf import C, TfidfModel, content_terms, train_tfidf
from tres.topic.text import words

ROUNDS = 2
FOLDS = 5
POSITIVE_WEIGHT = 3.0
LEAST = 20
"""Pages without which there is nothing to learn from."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Guesses:
    """Texts with labels of which most are guessed; `weights` says how sure each is."""

    texts: tuple[str, ...]
    labels: tuple[bool, ...]
    weights: tuple[float, ...]

    def train(self, seed: int) -> TfidfModel:
        """The model that these guesses teach."""
        return train_tfidf(self.texts, self.labels, seed, self.weights)


def guess(positives: Sequence[str], unlabelled: Sequence[str], keywords: Iterable[str]) -> Guesses:
    """Label the unlabelled texts; positives come first and stay what they are."""
    texts = (*positives, *unlabelled)
    _refuse_too_little(len(positives), len(texts))
    vectors, vocabulary = _vectors(texts)
    forms = keyword_forms(keywords)
    scores = vectors @ np.array([word in forms for word in vocabulary], np.float64)
    known = np.arange(len(texts)) < len(positives)
    excess = (scores - gap(scores[~known])) / (scores.std() or 1.0)
    labels = known | ((excess >= 0) & (scores > 0))
    weights = np.where(known, POSITIVE_WEIGHT, 1.0)
    for _ in range(ROUNDS):
        _refuse_one_class(labels, known)
        labels = known | (_judged_by_others(vectors, labels, weights) + excess > 0)
    _refuse_one_class(labels, known)
    return Guesses(texts, tuple(labels.tolist()), tuple(weights.tolist()))


def gap(scores: Floats) -> float:
    """The score from which on the upper of two groups begins, the groups being such that the
    variance between them is largest (Otsu, 1979).

    >>> gap(np.array([0.1, 0.9, 0.0, 0.8, 0.2]))
    0.8
    """
    ranked = np.sort(scores)
    below = np.arange(1, len(ranked))
    sums = np.cumsum(ranked)
    low, high = sums[:-1] / below, (sums[-1] - sums[:-1]) / below[::-1]
    return float(ranked[1 + np.argmax(below * below[::-1] * (high - low) ** 2)])


def keyword_forms(keywords: Iterable[str]) -> frozenset[str]:
    """The words of the keywords and their regular English plurals.

    >>> sorted(keyword_forms(["city", "Gene"]))
    ['cities', 'city', 'citys', 'gene', 'genees', 'genes']
    """
    forms: set[str] = set()
    for word in (word for keyword in keywords for word in words(keyword)):
        forms |= {word, f"{word}s", f"{word}es"}
        if word.endswith("y"):
            forms = (forms - {f"{word}es"}) | {f"{word[:-1]}ies"}
    return frozenset(forms)


def _vectors(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """TF-IDF vectors, one row per text, exactly as the final model will see them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(analyzer=content_terms, min_df=2, sublinear_tf=True)
    try:
        return vectoriser.fit_transform(texts), vectoriser.get_feature_names_out().tolist()
    except ValueError:
        raise TrainingError(
            f"no word occurs in 2 of the {len(texts)} explored pages; "
            "name seeds that lead to pages with text"
        ) from None


def _judged_by_others(vectors: Any, labels: Flags, weights: Floats) -> Floats:
    """The logit of every page, from a regression that did not learn from that page."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    folds = np.arange(len(labels)) % FOLDS
    order = np.argsort(labels, kind="stable")  # so that every fold has its share of both classes
    fold_of = np.empty_like(folds)
    fold_of[order] = folds
    logits = np.zeros(len(labels))
    with threadpool_limits(1):
        for fold in range(FOLDS):
            rest, own = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            regression = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
            regression.fit(vectors[rest], labels[rest], sample_weight=weights[rest])
            logits[own] = regression.decision_function(vectors[own])
    return logits


def _refuse_too_little(positives: int, pages: int) -> None:
    if positives == 0 or pages < LEAST:
        raise TrainingError(
            f"{pages} pages ({positives} of them seeds) are too few to learn a topic without "
            f"labels, {LEAST} are needed; name seeds that link to more pages, or give examples "
            "(training.labels, or positives with negatives)"
        )


def _refuse_one_class(labels: Flags, known: Flags) -> None:
    """Cross-fitting needs both classes in every part."""
    if min(labels.sum(), (~labels).sum()) < 2:
        what = "all" if labels.sum() > 1 else "none"
        raise TrainingError(
            f"{what} of the {int((~known).sum())} explored pages look relevant by their keywords; "
            "name more specific keywords, or give examples (training.labels, or positives with "
            "negatives)"
        )
