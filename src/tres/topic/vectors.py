"""Word vectors: a point in space for each word, so that likeness can be computed.

    vectors = load_vectors()                    # or a name, or the path of a file
    vectors.rows(["gene", "qwxz"])              # [1234, -1]
    vectors.matrix[1234]                        # half precision, memory-mapped

Words are those that `tres.topic.text.words` cuts. How they meet the entries of a
vocabulary (casing, accents, numbers, clitics) is told in `tres.topic.vector_words`. The
matrix is shared by all processes that map it and is read-only; only its used rows come
into memory. `digest` is the identity of words and matrix: a model that was trained on
vectors keeps it, and refuses others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tres.errors import VectorsError
from tres.sections import VECTORS
from tres.topic.vector_files import file_source, read_vectors
from tres.topic.vector_packages import (
    GLOVE_50D,
    GLOVE_100D,
    NPM_ADD,
    read_npm_package,
    read_pip_package,
)
from tres.topic.vector_store import Stored, convert, find, vectors_directory
from tres.topic.vector_words import UNKNOWN, detour

__all__ = ["UNKNOWN", "WordVectors", "add_vectors", "load_vectors"]


class WordVectors:
    """Vectors of many words; it never changes."""

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
        """Has this very word a vector, without any detour?"""
        return word in self._index

    def rows(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The row of the matrix for each word, -1 where a word has none.

        Numbers and accented words without a row of their own take one by a detour.
        """
        index = self._index
        rows = [index.get(word, UNKNOWN) for word in words]
        for place, row in enumerate(rows):
            if row == UNKNOWN:
                rows[place] = detour(words[place], index)
        return np.array(rows, np.int32)

    def frequent(self, count: int) -> list[str]:
        """The words of the first rows: files of vectors are sorted by frequency."""
        return list(islice(self._index, count))

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One vector per word, in order; zeros where a word has none."""
        rows = self.rows(words)
        found = self.matrix[rows].astype(np.float32)
        found[rows == UNKNOWN] = 0.0
        return found


def load_vectors(spec: str | Path = GLOVE_50D.name, base: Path | None = None) -> WordVectors:
    """Vectors by name, or from a file: converted at first use, mapped afterwards.

    A relative path is relative to `base`. `VectorsError` says what is missing or wrong,
    and how to get it.
    """
    match str(spec):
        case GLOVE_50D.name:
            stored = find(GLOVE_50D.key) or convert(GLOVE_50D, read_pip_package())
        case GLOVE_100D.name:
            stored = find(GLOVE_100D.key) or _must_be_added()
        case path:
            source = file_source((base or Path()) / path)
            stored = find(source.key) or convert(source, read_vectors(Path(source.origin)))
    return WordVectors.of(stored)


def add_vectors(name: str) -> WordVectors:
    """Fetch vectors that come from a registry, if they are not here yet."""
    if name == GLOVE_100D.name and find(GLOVE_100D.key) is None:
        convert(GLOVE_100D, read_npm_package())
    elif name not in VECTORS:
        raise VectorsError(f"{name!r} is no name of vectors; valid are {', '.join(VECTORS)}")
    return load_vectors(name)


def _must_be_added() -> Stored:
    damaged = (vectors_directory() / GLOVE_100D.key).exists()
    state = "are damaged" if damaged else "are not installed"
    raise VectorsError(f"the word vectors {GLOVE_100D.name} {state}; get them with {NPM_ADD}")
