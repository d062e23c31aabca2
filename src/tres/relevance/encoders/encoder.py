"""The interface of all encoders: texts in, unit vectors out.

An encoder was trained elsewhere, on far more text than a crawl ever sees, so it knows that *cello*
is near *violin* before the first label. It knows nothing of topics: a model learns which directions
of its space are relevant (`tres.relevance.model`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@runtime_checkable
class Encoder(Protocol):
    """Gives the vector of a text; near texts have a large scalar product."""

    @property
    def name(self) -> str:
        """The name that `load_encoder` knows it by."""

    @property
    def digest(self) -> str:
        """Identity of the parameters, the same on every machine: equal digests, equal vectors."""

    @property
    def dimension(self) -> int:
        """The length of a row."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """A row of length 1 per text, in order; zeros for a text without a known word."""


def unit_rows(rows: Floats) -> Floats:
    """Scale rows to length 1; zeros stay zeros. No row depends on another one, to the last bit."""
    squares = np.square(rows, dtype=np.float64).sum(axis=1, keepdims=True)
    return np.asarray(rows / np.sqrt(np.where(squares > 0.0, squares, 1.0)), np.float32)
