"""ACHE's link classifier: a linear SVM over the words of anchors and URLs.

A link is the set of the words of its anchor and, as features of their own, of its URL's path.
The vocabulary is the 150 most frequent of each kind that are longer than two letters and occur in
more than five links. A linear SVM (C = 1) with Platt scaling separates links to relevant pages from
others. ACHE also reads the ten words before and after a link; archives do not hold them.

Examples are links that were followed, up to 5,000 of each class in two reservoirs: each link that
was ever followed is among them with the same probability, however long the crawl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from tres.relevance.svm import platt_scaling
from tres.topic.text import words

TOP = 150
MIN_LETTERS = 3
MIN_LINKS = 6
RESERVOIR = 5_000
URL = "/"
"""Marks the words of a URL; no word contains it."""

Words = frozenset[str]


def link_words(anchor: str, url: str) -> Words:
    """Return the words of a link.

    >>> sorted(link_words("Midi files", "http://example.org/music/index.html"))
    ['/html', '/index', '/music', 'files', 'midi']
    """
    path = unquote(url.rpartition("://")[2].partition("/")[2])
    of_url = (URL + word for word in words(path) if len(word) >= MIN_LETTERS)
    return frozenset(of_url) | {word for word in words(anchor) if len(word) >= MIN_LETTERS}


@dataclass(frozen=True, slots=True)
class LinkClassifier:
    """Weights of known words, and the curve from margin to probability."""

    weights: dict[str, float]
    intercept: float
    slope: float
    offset: float

    def probability(self, link: Words) -> float:
        """Return the probability that a link leads to a relevant page."""
        known = [self.weights[word] for word in link if word in self.weights]
        margin = self.intercept + sum(sorted(known))
        return float(np.exp(-np.logaddexp(0.0, -(self.slope * margin + self.offset))))


def train_links(relevant: Sequence[Words], other: Sequence[Words]) -> LinkClassifier | None:
    """Fit the classifier; None while one class has no examples."""
    from sklearn.svm import LinearSVC

    examples = [*relevant, *other]
    known = _vocabulary(examples)
    if not relevant or not other or not known:
        return None
    rows = _matrix(examples, known)
    truth = np.arange(len(examples)) < len(relevant)
    machine = LinearSVC(C=1.0, loss="hinge", dual=True, random_state=0, max_iter=20_000)
    machine.fit(rows, truth)
    slope, offset = platt_scaling(np.asarray(machine.decision_function(rows)), truth)
    weights = dict(zip(known, machine.coef_[0].tolist(), strict=True))
    return LinkClassifier(weights, float(machine.intercept_[0]), slope, offset)


def _vocabulary(examples: Iterable[Words]) -> list[str]:
    """The most frequent words of anchors and of URLs."""
    counts = Counter(word for link in examples for word in sorted(link))
    frequent = [word for word, count in counts.most_common() if count >= MIN_LINKS]
    of_url = [word for word in frequent if word.startswith(URL)]
    of_anchor = [word for word in frequent if not word.startswith(URL)]
    return of_anchor[:TOP] + of_url[:TOP]


def _matrix(examples: Sequence[Words], known: Sequence[str]) -> NDArray[np.float64]:
    place = {word: i for i, word in enumerate(known)}
    rows = np.zeros((len(examples), len(known)))
    for i, link in enumerate(examples):
        rows[i, [place[word] for word in link if word in place]] = 1.0
    return rows
