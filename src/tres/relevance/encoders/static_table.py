"""The static encoder: a text is the sum of the vectors of its words, whatever their order.

The table has a row per token: what a transformer says of the token alone, projected on the
principal components of all of them. `tools/distil.py` makes it. A text is then a few hundred
look-ups, some hundred times faster than the transformer: it no longer knows that a *river bank* is
no bank, but still that rivers are near lakes.

Words are those of TF-IDF (`tres.relevance.tfidf.terms`: titles count more), and a word that occurs
n times counts 1 + ln n times, as there: a model with both counts the words of a text once. A word
without a row of its own is the sum of its pieces.

A row is stored as 8-bit whole numbers and one factor:

    model.json       manifest: digests, licence, source
    vocabulary.txt   tokens; the first `pieces` of them may be parts of words
    weights.npz      rows (int8, tokens x dimension), scales (float32), pieces (int64, one number)

The rows of a text are added one after the other, each text by itself: so its vector depends neither
on the batch nor on the machine's linear algebra.

A word that falls apart into crumbs, as *postgresql* does (`post ##gre ##s ##q ##l`) and any word of
a script that the transformer did not learn, has no vector: the sum of its letters would be near
everything and nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
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
MOST_WORDS = 1 << 14
"""Different words of a text that count: a page of a stranger may hold a million."""
KEPT_WORDS = 1 << 15
"""Words outside the table whose vectors are kept; then all of them are forgotten."""
SHORTEST_PIECE = 3
"""Mean length of the pieces that a word must have to be known by them."""


class _WordRows(dict[str, int]):
    """The row of each word in a matrix: rows of the table, one of zeros, and sums of pieces.

    A sum is computed when its word is first asked for. The last rows use memory only then.
    """

    def __init__(
        self, tokens: Sequence[str], rows: NDArray[np.int8], scales: Floats, pieces: int
    ) -> None:
        index = {token: row for row, token in enumerate(tokens)}
        self._pieces = WordPieces(index, pieces)
        self._unknown = len(rows)
        self._next = len(rows) + 1
        self.matrix = np.zeros((self._next + KEPT_WORDS, rows.shape[1]), np.float32)
        np.multiply(rows, scales[:, None], out=self.matrix[: len(rows)])

    def __missing__(self, word: str) -> int:
        places = self._pieces.places(word)
        if len(places) < 2:
            row = places[0] if places and len(word) > 1 else self._unknown
        elif len(word) < SHORTEST_PIECE * len(places):
            row = self._unknown
        else:
            row, self._next = self._next, self._next + 1
            self.matrix[row] = self.matrix[places].sum(axis=0)
        self[word] = row
        return row

    def make_room(self, words: int) -> None:
        """Forget the words if as many new ones might not find a place."""
        if self._next + words > len(self.matrix) or len(self) > 2 * KEPT_WORDS:
            self.clear()
            self._next = self._unknown + 1


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
        self._arrays: dict[str, NDArray[Any]] = {
            "rows": rows,
            "scales": scales,
            "pieces": np.array([pieces], np.int64),
        }
        self._rows = _WordRows(tokens, rows, scales, pieces)

    @property
    def word_pieces(self) -> tuple[str, ...]:
        """The vocabulary of pieces, in its order: that of the transformer it comes from."""
        return self._tokens[: int(self._arrays["pieces"][0])]

    @cached_property
    def digest(self) -> str:
        return self._files().digest

    def encode(self, texts: Sequence[str]) -> Floats:
        return self._encode((Counter(terms(text)) for text in texts), len(texts))

    def encode_counts(self, texts: Sequence[Mapping[str, int]]) -> Floats:
        """The same for texts whose terms are counted already."""
        return self._encode(texts, len(texts))

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """A row per word, not of length 1: zeros for an unknown word."""
        parts = [words[at : at + MOST_WORDS] for at in range(0, len(words), MOST_WORDS)]
        rows = [self._vectors(part, len(part)) for part in parts]
        return np.concatenate([np.empty((0, self.dimension), np.float32), *rows])

    def _encode(self, texts: Iterable[Mapping[str, int]], number: int) -> Floats:
        sums = np.empty((number, self.dimension), np.float32)
        for total, counts in zip(sums, texts, strict=True):
            size = min(len(counts), MOST_WORDS)
            times = np.fromiter(islice(counts.values(), size), np.float64, size)
            weights = (1.0 + np.log(times)).astype(np.float32)
            np.einsum("w,wd->d", weights, self._vectors(counts, size), out=total)
        return unit_rows(sums)

    def _vectors(self, words: Iterable[str], size: int) -> Floats:
        """A row for each of the first words, at most `MOST_WORDS`."""
        self._rows.make_room(size)
        rows = map(self._rows.__getitem__, islice(words, size))
        return self._rows.matrix.take(np.fromiter(rows, np.intp, size), axis=0)

    def save(self, directory: Path) -> None:
        """Write the table into `directory`."""
        self._files().write(directory)

    def _files(self) -> ModelFiles:
        return ModelFiles(KIND, self._tokens, self._arrays, dict(self.facts))

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
