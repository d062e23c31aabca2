"""The interface of every relevance model: text in, probability out.

A relevance model is the reward function of the crawl (section 3.3 of the paper):
a page is relevant, reward 1, when its probability reaches `THRESHOLD`. Models take
text and know no crawler. They read pages (the title on the first line) and anchors
(anchor text plus the words of the URL) through one and the same method, always in
batches, so that a neural model can serve both efficiently.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.5
"""Probability from which on a page counts as relevant."""


@runtime_checkable
class RelevanceModel(Protocol):
    """Says how probably a text is about the topic."""

    @property
    def digest(self) -> str:
        """Identity of the model's parameters: equal digests, equal answers (for caches)."""

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One probability per text, in order. A text without a known word gets the prior."""

    def save(self, directory: Path) -> None:
        """Write the model (JSON and arrays, never pickle) into `directory`."""
