"""Adam with gradient clipping, on one flat parameter vector.

m and v are running means of the gradient and of its square; a step goes along m / sqrt(v),
both corrected for their start at zero. The gradient's norm is clipped first, because the
target of a Q-network jumps whenever its target network is renewed.
"""

from __future__ import annotations

import numpy as np

from tres.mdp.columns import Floats

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Optimiser state of one parameter vector."""

    def __init__(self, size: int, learning_rate: float, clip: float = 1.0) -> None:
        self._learning_rate = learning_rate
        self._clip = clip
        self._mean = np.zeros(size, np.float32)
        self._square = np.zeros(size, np.float32)
        self._steps = 0

    def step(self, theta: Floats, gradient: Floats) -> None:
        """Move theta, in place, against the gradient."""
        norm = float(np.sqrt(gradient @ gradient))
        if norm > self._clip:
            gradient = gradient * np.float32(self._clip / norm)
        self._steps += 1
        self._mean += np.float32(1 - BETA_1) * (gradient - self._mean)
        self._square += np.float32(1 - BETA_2) * (gradient * gradient - self._square)
        scale = self._learning_rate * np.sqrt(1 - BETA_2**self._steps) / (1 - BETA_1**self._steps)
        theta -= np.float32(scale) * self._mean / (np.sqrt(self._square) + np.float32(EPSILON))
