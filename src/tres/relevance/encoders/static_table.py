"""The static encoder: a text is the sum of the vectors of its words, whatever their order.

The table has a row per token: the mean of what a transformer says of the token alone, projected on
its principal components, times a weight that is small for frequent tokens. `tools/distil.py` makes
it. A text is then a few hundred look-ups, a hundred thousand times faster than the transformer: it
no longer knows that a *river bank* is no bank, but still that rivers are near lakes.

Words are those of TF-IDF (`tres.relevance.tfidf.terms`: titles count more), so a model with both
splits a text once. A word without a row of its own is the sum of its pieces.

A row is stored as 8-bit whole numbers and one factor:

    model.json       manifest: digests, licence, source
    vocabulary.txt   tokens; the first `pieces` of them may be parts of words
    weights.npz      rows (int8, tokens x dimension), scales (float32), pieces (int64, one number)

The rows of a text are added in their order, one after the other, each text by itself: so its
vector depends neither on the batch nor on the machine's linear algebra.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import ModelError
from tres.relevance.encoders.encoder import Floats, unit_rows
from tres.relevance.encoders.word_pieces import WordPieces
from tres.relevance.model_files import ModelFiles
from tres.relevance.tfidf import terms

KIND = "static-encoder"
MOST_WORDS = 1 << 16
"""Words whose pieces are kept; then the memory is emptied."""


class StaticEncoder:
    """Tokens and their vectors, served by NumPy alone."""

    def __init__(
        self,
        name: str,
        tokens: Sequence[str],
        rows: NDArray[np.int8],
        scales: Floats,
        pieces: int,
        facts: Mapping[str, Any],
    ) -> None:
        self.name = name
        self.dimension = int(rows.shape[1])
        self.facts = facts
        """Where the table comes from, and its licence."""
        self._tokens = tuple(tokens)
        self._rows, self._scales, self._pieces = rows, scales, pieces
        self._matrix = rows * scales[:, None]
        index = {token: row for row, token in enumerate(tokens)}
        self._places = WordPieces(index, pieces)

    @property
    def word_pieces(self) -> tuple[str, ...]:
        """The vocabulary of pieces, in its order: that of the transformer it comes from."""
        return self._tokens[: self._pieces]

    @cached_property
    def digest(self) -> str:
        return self._files().digest

    def encode(self, texts: Sequence[str]) -> Floats:
        return self._encode(map(terms, texts), len(texts))

    def encode_words(self, texts: Sequence[Sequence[str]]) -> Floats:
        """The same for texts that `terms` has split already."""
        return self._encode(texts, len(texts))

    def _encode(self, texts: Iterable[Sequence[str]], number: int) -> Floats:
        if len(self._places) > MOST_WORDS:
            self._places.clear()
        sums = np.empty((number, self.dimension), np.float32)
        for total, words in zip(sums, texts, strict=True):
            places = chain.from_iterable(map(self._places.__getitem__, words))
            np.add.reduce(self._matrix.take(np.fromiter(places, np.intp), 0), 0, out=total)
        return unit_rows(sums)

    def save(self, directory: Path) -> None:
        """Write the table into `directory`."""
        self._files().write(directory)

    def _files(self) -> ModelFiles:
        arrays: dict[str, NDArray[Any]] = {
            "rows": self._rows,
            "scales": self._scales,
            "pieces": np.array([self._pieces], np.int64),
        }
        return ModelFiles(KIND, self._tokens, arrays, dict(self.facts))

    @classmethod
    def load(cls, directory: Path, name: str) -> StaticEncoder:
        """Read a table; `ModelError` if it is damaged, or something else."""
        files = ModelFiles.read(directory)
        if files.kind != KIND or not _fit(files):
            raise ModelError(f"{directory}: holds no table of tokens; name another directory")
        rows, scales, pieces = (files.arrays[name] for name in ("rows", "scales", "pieces"))
        return cls(name, files.vocabulary, rows, scales, int(pieces[0]), files.facts)


def _fit(files: ModelFiles) -> bool:
    """Whether the arrays fit each other and the tokens."""
    n = len(files.vocabulary)
    found = {name: (array.dtype.name, array.shape) for name, array in files.arrays.items()}
    dimension = found.get("rows", ("", ()))[1][1:]
    expected = {"rows": ("int8", (n, *dimension)), "scales": ("float32", (n,))}
    return (
        found == expected | {"pieces": ("int64", (1,))}
        and len(dimension) == 1
        and min(n, *dimension) > 0
        and 0 <= files.arrays["pieces"][0] <= n
        and bool(np.isfinite(files.arrays["scales"]).all())
    )
