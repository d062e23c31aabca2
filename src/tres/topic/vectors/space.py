"""A space of word vectors in which near words are similar: unit length, optionally centred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import STOP_WORDS
from tres.topic.vectors.word_vectors import WordVectors

Matrix = NDArray[np.float32]

FREQUENT = 50_000
"""Rows from which the common components are computed; vocabularies begin with frequent words."""


@dataclass(frozen=True, slots=True)
class Space:
    """Unit vectors of words and phrases, without the components that all words share."""

    vectors: WordVectors
    mean: Matrix
    common: Matrix
    """(dim, n), orthonormal columns: the directions that are removed."""

    @classmethod
    def of(cls, vectors: WordVectors, components: int) -> Space:
        """Return the space without its mean and some principal components; as it is with 0."""
        if components == 0:
            zeros = np.zeros((vectors.dim, 0), np.float32)
            return cls(vectors, np.zeros(vectors.dim, np.float32), zeros)
        frequent = unit(vectors.matrix[:FREQUENT].astype(np.float32))
        return cls(vectors, frequent.mean(axis=0), principal_components(frequent, components))

    def words(self, words: Sequence[str]) -> Matrix:
        """Return a unit vector per word; zeros for a word without a vector."""
        found = unit(self.vectors.vectors(words))
        known = found.any(axis=1, keepdims=True)
        centred = np.where(known, found - self.mean, found)
        return unit(centred - centred @ self.common @ self.common.T)

    def term(self, term: Sequence[str]) -> Matrix | None:
        """Return the vector of a keyword or phrase; None if one of its words has none."""
        meaning = [word for word in term if word not in STOP_WORDS] or list(term)
        if not meaning or not all(word in self.vectors for word in meaning):
            return None
        vector: Matrix = unit(self.words(meaning).mean(axis=0, keepdims=True))[0]
        return vector


def unit(rows: Matrix) -> Matrix:
    """Scale rows to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def principal_components(rows: Matrix, number: int) -> Matrix:
    """Return the orthogonal directions in which the rows differ most, as columns."""
    centred = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)  # from the least to the greatest
    return np.asarray(directions[:, ::-1][:, :number], np.float32)
