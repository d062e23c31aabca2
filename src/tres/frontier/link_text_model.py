"""What the words of a link promise, learnt from every page that was fetched.

The relevance model reads an anchor as if it were a page; it cannot know that on this web links to
`-doc` or under `/math/` are the good ones. So a logistic regression over the wordings of links
(`tres.web.link_wording`) learns it as the crawl goes on: every fetched page tells how relevant it
was, and the weights of the words that led to it follow, each at a pace that falls as it has moved
(AdaGrad), so that frequent words settle and rare ones still learn. What the words of a URL promise
is known before any page of its site is, which matters most where every site may give a few pages.

A word that only one site uses takes its share of that site's success and little more: once the
site's words explain it, the error is gone and nothing further is learnt from its pages.
"""

from __future__ import annotations

import numpy as np

from tres.mdp.columns import Column, Floats, Ids
from tres.web.link_wording import CODES, NO_WORD, WIDTH, Wordings

RATE = 0.5
DOUBT = -1.0
"""Log-odds of a link without any known word, before anything is learnt."""
GROWTH = 1.25
"""How much more is learnt before all rows are read again."""
ONES = np.ones(WIDTH, np.float32)
EVERY_LINK = CODES
"""A word that every link has: its weight is the intercept."""


class LinkWords:
    """Wordings of rows, and a weight for every word."""

    def __init__(self) -> None:
        self._wording = Column(np.uint16, width=WIDTH)
        self._weight = np.zeros(CODES + 1, np.float32)
        self._weight[EVERY_LINK] = DOUBT
        self._squares = np.ones(CODES + 1, np.float32)
        self._learnt = 0
        self._said = 0

    def add(self, wordings: Wordings) -> None:
        """The wordings of the rows that come next."""
        self._wording.extend(wordings)

    def promise(self, rows: Ids) -> Floats:
        """The probability that a row's page is relevant, by its words alone."""
        return self.promise_of(self._wording.view.take(rows, axis=0))

    def promise_of(self, wordings: Wordings) -> Floats:
        """The same for links that have no row."""
        # No word weighs nothing, so rows of any length are summed alike; and every code is there,
        # so that `take` need not look.
        weights = self._weight.take(wordings, mode="clip")
        return _probability(weights @ ONES + self._weight[EVERY_LINK])

    def learn(self, row: int, relevance: float) -> bool:
        """The page of a row was fetched: one step down the gradient of the log-loss.

        Says whether so much was learnt since it last said so that all rows should be read again.
        """
        words = np.unique(self._wording.view[row]).astype(np.intp)
        words = np.append(words[words != NO_WORD], EVERY_LINK)
        error = _probability(self._weight[words].sum()) - np.float32(relevance)
        self._squares[words] += error * error
        self._weight[words] -= np.float32(RATE) * error / np.sqrt(self._squares[words])
        self._learnt += 1
        due = self._learnt > GROWTH * self._said
        self._said = self._learnt if due else self._said
        return due


def _probability(margin: Floats) -> Floats:
    """The logistic function, written so that no margin overflows."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * margin), np.float32)
