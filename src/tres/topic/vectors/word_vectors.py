"""Word vectors: a vector for each word, so that similarity can be computed.

    vectors = load_vectors()                    # or a name, or the path of a file
    vectors.rows(["gene", "qwxz"])              # [1234, -1]
    vectors.matrix[1234]                        # half precision, memory-mapped

Words are those of `tres.topic.text.words`. `tres.topic.vectors.vocabulary` maps them to the entries
of a vocabulary (casing, accents, numbers, clitics). The matrix is read-only and shared by all
processes that map it; only used rows are loaded. `digest` identifies words and matrix: a model
remembers the vectors that it was trained with, and refuses others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tres.topic.vectors.cache import Stored, convert, find
from tres.topic.vectors.formats import file_source, read_vectors
from tres.topic.vectors.packages import GLOVE_50D, read_pip_package
from tres.topic.vectors.vocabulary import UNKNOWN, fallback_row

__all__ = ["UNKNOWN", "WordVectors", "load_vectors"]


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
