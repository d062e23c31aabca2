"""Positive-unlabelled learning: a topic without labels, from its words and the pages of a crawl.

Given are the topic's words, the pages fetched so far and their sites, and which of the pages are
seeds: relevant, but few. Of the others nobody knows. Three steps:

1. Affinity. How near the words of a page are to the topic's (`tres.relevance.topic_affinity`)
   ranks pages better than the seeds can. It does not say where "relevant" begins: that differs from
   topic to topic. A crawl gathers two groups of pages, with low and with high affinity, and the
   threshold that separates them best (Otsu's: the largest variance between the groups) is where
   the first guesses begin, within bounds: a few pages may have only one group.
2. Self-training. A regression on words and affinity learns the guesses, its scores are the next
   guesses, and so on for some rounds. As it is linear in thousands of words it cannot memorise
   the mistakes, and it finds relevant pages that are far from the topic's words. Every page is
   scored by a regression that has seen neither it nor its site (cross-fitting), so that a site
   does not confirm itself. A guess weighs 2p - 1 if it is right with probability p.
3. Sites. Pages of one site are mostly about one thing. So the score of a page moves towards the
   mean of its site, as far as sites really differ on this web: the variance between sites,
   compared with that within (random effects). An encyclopedia, which is one site, has none.

Seeds and judged pages keep their labels. Balanced class weights, as in `tres.relevance.tfidf`, take
care of the class prior: relevant pages found by following the topic do not show that such pages are
common. The result is a deterministic function of the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tres.relevance.examples import ENOUGH, Examples
from tres.relevance.mixture import cross_fitted, scale_for
from tres.relevance.static import STRENGTH, StaticModel, best_scale, train_static
from tres.relevance.tfidf import tfidf_vectors

FIRST_REFIT, LAST_REFIT = 20, 3_000
"""Pages after which a crawl refits its model for the first time, and after which no more."""
GROWTH = 1.5
"""A refit comes when there are so many times the pages of the last one."""
ROUNDS = 5
SEED_WEIGHT = 2.0
LEAST = 5
"""Pages of each class that a regression needs."""
LOWEST, HIGHEST = 0.06, 0.35
"""Bounds of the affinity at which relevance begins."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that a crawl has fetched, and what is known of it beforehand."""

    content: str
    site: str
    label: bool | None = None
    """Whether it is relevant, if somebody has said so: a seed is."""
    weight: float = 1.0
    """How much the label counts; a guess has at most 1."""


def next_refit(pages: int) -> int | None:
    """Return after how many pages the next refit is due, now or later; None if there is none.

    >>> next_refit(0), next_refit(20), next_refit(21), next_refit(5_000)
    (20, 20, 30, None)
    """
    due = float(FIRST_REFIT)
    while int(due) < pages:
        due *= GROWTH
    return int(due) if due <= LAST_REFIT else None


def learn_topic(
    pages: Sequence[CrawledPage], start: StaticModel, seed: int = 1
) -> StaticModel | None:
    """Return the model that these pages teach, beginning with one without examples.

    None if they are too few, or all alike.
    """
    guesses = guess_labels(pages, start)
    if guesses is None:
        return None
    judged = [place for place, page in enumerate(pages) if page.weight > SEED_WEIGHT]
    certain = guesses.subset(judged)
    relevant = sum(certain.labels)
    if min(relevant, len(judged) - relevant) >= ENOUGH:
        return train_static(certain, seed, start, best_scale(certain, start))
    return train_static(guesses, seed, start, scale_for(np.asarray(guesses.labels)))


def guess_labels(pages: Sequence[CrawledPage], start: StaticModel) -> Examples | None:
    """Label the pages of a crawl; None if one class has too few."""
    texts = [page.content for page in pages]
    sites = [page.site for page in pages]
    certain = np.array([-1 if page.label is None else page.label for page in pages], np.int8)
    weights = known_weights = np.array([page.weight for page in pages])
    try:
        vectors = tfidf_vectors(texts)[0]
    except ValueError:
        return None
    affinity = start.affinity(texts)
    excess = STRENGTH * (affinity - _threshold(affinity, certain))
    labels = _keep(certain, excess > 0)
    for _ in range(ROUNDS):
        if not _both(labels):
            return None
        near = scale_for(labels) * affinity
        logits = cross_fitted(vectors, near, labels, weights, sites)
        logits = _towards_sites(logits + excess / 4, sites)
        labels = _keep(certain, logits > 0)
        weights = np.where(certain < 0, np.abs(np.tanh(logits / 2)), known_weights)
    if not _both(labels):
        return None
    return Examples(tuple(texts), tuple(labels.tolist()), tuple(weights.tolist()), tuple(sites))


def _keep(certain: NDArray[np.int8], guessed: Flags) -> Flags:
    return np.where(certain >= 0, certain == 1, guessed)


def _both(labels: Flags) -> bool:
    return int(min(labels.sum(), (~labels).sum())) >= LEAST


def _threshold(affinity: Floats, certain: NDArray[np.int8]) -> float:
    """Return the affinity at which relevance begins: Otsu's, within bounds and below most seeds."""
    others = affinity[certain < 0]
    border = otsu_threshold(others) if len(others) > 1 else HIGHEST
    relevant = affinity[certain == 1]
    highest = min(HIGHEST, float(np.median(relevant))) if len(relevant) else HIGHEST
    return max(LOWEST, min(border, highest))


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


def _towards_sites(logits: Floats, sites: Sequence[str]) -> Floats:
    """Move each score towards the mean of its site, as far as sites differ."""
    _, site_of, pages = np.unique(sites, return_inverse=True, return_counts=True)
    means = np.bincount(site_of, logits) / pages
    within = np.square(logits - means[site_of]).sum() / max(1, len(logits) - len(pages))
    between = max(0.0, float(np.var(means)) - within * float(np.mean(1 / pages)))
    if len(pages) < 2 or between == 0.0:
        return logits
    trust = between / (between + within / pages)
    moved: Floats = logits + (trust * (means - logits.mean()))[site_of]
    return moved
