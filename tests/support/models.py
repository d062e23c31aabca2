"""Models that know nothing, for tests in which nothing is judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


class Half:
    """A model that is saved and asked for nothing."""

    digest = "half"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        return np.full(len(texts), 0.5, np.float32)

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True)
