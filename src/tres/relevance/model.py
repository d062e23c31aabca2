"""The interface of all relevance models: texts in, probabilities out.

A relevance model is the reward function of the crawl (section 3.3 of the paper): a page whose
probability reaches `THRESHOLD` is relevant and earns reward 1. Models know nothing about crawling.
They judge pages (the title on the first line) and anchors (anchor text and the words of the URL)
through the same method, always in batches, which a neural model needs to be efficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.5
"""A page with this probability or more is relevant."""


@runtime_checkable
class RelevanceModel(Protocol):
    """Gives the probability that a text is about the topic."""

    @property
    def digest(self) -> str:
        """Identity of the model's parameters: equal digests, equal answers."""

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One probability per text, in order. A text without a known word gets the prior."""

    def save(self, directory: Path) -> None:
        """Write the model into `directory`: JSON and arrays, never pickle."""
