"""A policy for tres in a package of its own: online logistic regression over links.

pip install examples/odds-policy
tres crawl topic.toml --policy odds
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tres

Floats = NDArray[np.float32]


class Odds(tres.ValuePolicy):
    """The log-odds that a link leads to a relevant page."""

    info = tres.PolicyInfo(
        summary="online logistic regression over the features of links",
        score_meaning="the log-odds that it leads to a relevant page",
    )

    def __init__(self, crawl: tres.Crawl, rng: np.random.Generator) -> None:
        super().__init__(crawl, rng)
        self.weights = np.zeros(self.schema.width, np.float32)
        self.weights[self.schema.column("parent_relevance_mean")] = 1.0
        self.bias = -1.0

    def values(self, links: Floats) -> Floats:
        return links @ self.weights + self.bias

    def observe(self, link: Floats, reward: float) -> None:
        chance = 1 / (1 + np.exp(-float(link @ self.weights + self.bias)))
        self.weights += np.float32(0.05 * (reward - chance)) * link
        self.bias += 0.05 * (reward - chance)
