"""The vectors of pages, kept: a training, its folds and its evaluation read the same pages.

A transformer takes as long for pages one by one as for many together, and one by one no vector can
depend on the others, to the last bit. So it reads them alone here, whatever the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from tres.relevance.encoders.encoder import Encoder, Floats
from tres.relevance.encoders.sources import load_encoder

KEPT = 1 << 13
"""Vectors; the oldest is forgotten for a new one."""


class PageEncoder:
    """An encoder that reads pages one by one and knows those that it has read."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.digest = encoder.name, encoder.digest
        self.dimension = encoder.dimension
        self._kept: dict[bytes, Floats] = {}

    def encode(self, texts: Sequence[str]) -> Floats:
        rows = np.empty((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(text)
        return rows

    def _vector(self, text: str) -> Floats:
        key = blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._encoder.encode([text])[0]
        return self._kept[key]


@lru_cache(maxsize=1)
def page_encoder(name: str) -> PageEncoder:
    """Return the encoder of a name; it is loaded once in a process, and its vectors are shared."""
    return PageEncoder(load_encoder(name))
