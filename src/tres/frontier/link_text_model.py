"""The link text model: which words of links lead to relevant pages, learnt during the crawl.

The relevance model reads an anchor as if it were a page; it cannot know that on this web links to
`-doc` or under `/math/` are the good ones. So a logistic regression over the wordings of links
(`tres.web.link_wording`) learns it: every fetched page gives its relevance, and the weights of the
words that led to it move, each at a rate that falls the more it has moved (AdaGrad), so that
frequent words settle and rare ones still learn. The words of a URL are known before any page of its
site is, which matters most where every site may give only a few pages.

A word that only one site uses takes its share of that site's success and little more: once the
site's words explain it, the error is zero and its pages teach nothing further.
"""

from __future__ import annotations

import numpy as np

from tres.mdp.columns import Column, Floats, Ids
from tres.web.link_wording import CODES, NO_WORD, WIDTH, Wordings

RATE = 0.5
PRIOR = -1.0
"""Log-odds of a link without any known word, before anything is learnt."""
GROWTH = 1.25
"""Factor by which the pages learnt from grow before all rows are scored again."""
ONES = np.ones(WIDTH, np.float32)
EVERY_LINK = CODES
"""A word that every link has: its weight is the intercept."""


class LinkTextModel:
    """The wordings of rows, and a weight for every word."""

    def __init__(self) -> None:
        self._wording = Column(np.uint16, width=WIDTH)
        self._weight = np.zeros(CODES + 1, np.float32)
        self._weight[EVERY_LINK] = PRIOR
        self._squares = np.ones(CODES + 1, np.float32)
        self._learnt = 0
        self._last_update = 0

    def add(self, wordings: Wordings) -> None:
        """Append the wordings of new rows."""
        self._wording.extend(wordings)

    def probability(self, rows: Ids) -> Floats:
        """Return the probability that the targets of rows are relevant, by their words alone."""
        return self.probability_of(self._wording.view.take(rows, axis=0))

    def probability_of(self, wordings: Wordings) -> Floats:
        """Return the same for links without a row."""
        # NO_WORD has weight zero, so rows of any length can be summed; every code exists, so `take`
        # need not check.
        weights = self._weight.take(wordings, mode="clip")
        return _probability(weights @ ONES + self._weight[EVERY_LINK])

    def learn(self, row: int, relevance: float) -> bool:
        """Take one step down the gradient of the log-loss, for the fetched page of a row.

        Return whether the model has learnt from enough pages that all rows should be scored again.
        """
        words = np.unique(self._wording.view[row]).astype(np.intp)
        words = np.append(words[words != NO_WORD], EVERY_LINK)
        error = _probability(self._weight[words].sum()) - np.float32(relevance)
        self._squares[words] += error * error
        self._weight[words] -= np.float32(RATE) * error / np.sqrt(self._squares[words])
        self._learnt += 1
        due = self._learnt > GROWTH * self._last_update
        self._last_update = self._learnt if due else self._last_update
        return due


def _probability(margin: Floats) -> Floats:
    """Return the logistic function, in a form that does not overflow."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * margin), np.float32)
