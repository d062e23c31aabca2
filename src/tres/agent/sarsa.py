"""Linear SARSA over binary features (Han et al. 2018).

    Q(s, a) = w . phi(s, a)
    w <- w + alpha * (r + gamma * Q(s', a') - Q(s, a)) * phi(s, a)

phi is given by the places of its ones, so a value is a sum of a few weights and an update
touches only those. On-policy: a' is the action actually taken next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


class LinearSarsa:
    """Weights of all features."""

    def __init__(self, features: int, alpha: float = 0.01, gamma: float = 0.9) -> None:
        self._weights = np.zeros(features, np.float64)
        self._alpha = alpha
        self._gamma = gamma

    def values(self, places: Places) -> NDArray[np.float32]:
        """Q of every row of `places`."""
        return np.asarray(self._weights[places].sum(axis=-1), np.float32)

    def learn(self, places: Places, reward: float, following: Places) -> None:
        """Learn from one transition to the action taken next."""
        now, later = self._weights[places].sum(), self._weights[following].sum()
        self._weights[places] += self._alpha * (reward + self._gamma * later - now)
