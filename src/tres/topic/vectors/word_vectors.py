"""Word vectors: a vector for each word, so that similarity can be computed.

    vectors = load_vectors()                    # or a name, or the path of a file
    vectors.rows(["gene", "qwxz"])              # [1234, -1]
    vectors.matrix[1234]                        # half precision, memory-mapped

Words are those of `tres.topic.text.words`. `tres.topic.vectors.vocabulary` maps them to the entries
of a vocabulary (casing, accents, numbers, clitics). The matrix is read-only and shared by all
processes that map it; only used rows are loaded. `digest` identifies words and matrix: a model
remembers the vectors that it was trained with, and refuses others.

In a `Space`, near words are similar: all vectors have unit length, and may be centred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import STOP_WORDS
from tres.topic.vectors.cache import Stored, convert, find
from tres.topic.vectors.formats import file_source, read_vectors
from tres.topic.vectors.packages import GLOVE_50D, read_pip_package
from tres.topic.vectors.vocabulary import UNKNOWN, fallback_row

Matrix = NDArray[np.float32]

FREQUENT = 50_000
"""Rows from which the common components are computed; vocabularies begin with frequent words."""


class WordVectors:
    """The vectors of many words, immutable."""

    __slots__ = ("_index", "digest", "dim", "matrix", "name")

    def __init__(
        self, name: str, words: Sequence[str], matrix: NDArray[np.float16], digest: str
    ) -> None:
        self.name = name
        self.dim = int(matrix.shape[1])
        self.digest = digest
        self.matrix = matrix
        self._index = {word: row for row, word in enumerate(words)}

    @classmethod
    def of(cls, stored: Stored) -> WordVectors:
        """Map vectors of the cache."""
        return cls(stored.name, stored.read_words(), stored.map_matrix(), stored.digest)

    def __len__(self) -> int:
        return len(self.matrix)

    def __contains__(self, word: str) -> bool:
        """Return whether a word has a vector of its own."""
        return word in self._index

    def rows(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the row of the matrix for each word, -1 if it has none.

        Numbers and accented words without a row of their own may use that of another word.
        """
        index = self._index
        rows = [index.get(word, UNKNOWN) for word in words]
        for place, row in enumerate(rows):
            if row == UNKNOWN:
                rows[place] = fallback_row(words[place], index)
        return np.array(rows, np.int32)

    def frequent(self, count: int) -> list[str]:
        """Return the words of the first rows, as files of vectors are sorted by frequency."""
        return list(islice(self._index, count))

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector per word, in order; zeros if a word has none."""
        rows = self.rows(words)
        found = self.matrix[rows].astype(np.float32)
        found[rows == UNKNOWN] = 0.0
        return found


def load_vectors(spec: str | Path = GLOVE_50D.name, base: Path | None = None) -> WordVectors:
    """Return vectors by name, or from a file: converted at first use, then memory-mapped.

    A relative path is relative to `base`. `VectorsError` says what is missing or wrong,
    and how to get it.
    """
    if str(spec) == GLOVE_50D.name:
        stored = find(GLOVE_50D.key) or convert(GLOVE_50D, read_pip_package())
    else:
        source = file_source((base or Path()) / spec)
        stored = find(source.key) or convert(source, read_vectors(Path(source.origin)))
    return WordVectors.of(stored)


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
