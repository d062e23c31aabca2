"""What a recurrent network reads of a text: the words that count, as rows of a table.

A network reads from the start and not without end: a page is its title, twice, and then
its text, `TOKENS` words in all. (The title names the subject; said twice it weighs more
with a network that averages over words.) A text of one line, such as an anchor, is read
as it is. Words that the table does not hold are passed over.

The table holds one row per word: its vector, brought to mean 0 and deviation 1 in every
dimension, and as a last column its *leaning* (`tres.relevance.leanings`). It is stored
in half precision, for the words of the training pages and the most frequent words of the
vectors, so a model needs no file of vectors once it is trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tres.relevance.tfidf import terms
from tres.topic.text import words
from tres.topic.vector_words import UNKNOWN, detour
from tres.topic.vectors import WordVectors

TOKENS = 300
TITLES = 2
CHARS = 10 * TOKENS
"""Characters that surely hold that many words, were they not uncommonly long."""
HEARD_CHARS = 20_000
FREQUENT = 60_000
"""Words of the vectors that every table holds; vectors are sorted by frequency."""
SCALED_BY = 20_000
"""Words over which mean and deviation of the vectors are taken."""

Ids = NDArray[np.int32]


def read(text: str) -> list[str]:
    """The words that a network reads of a text.

    >>> read("Bees\\nmake honey")
    ['bees', 'bees', 'make', 'honey']
    """
    title, newline, body = text.partition("\n")
    if not newline:
        return words(title[:CHARS])[:TOKENS]
    return (words(title[:CHARS]) * TITLES + words(body[:CHARS]))[:TOKENS]


def heard(text: str) -> list[str]:
    """The words on which a linear model's opinion rests: all of them, up to a limit."""
    return terms(text[:HEARD_CHARS])


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts as rows of a table, one after the other in one array."""

    ids: Ids
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum(self.lengths) - self.lengths

    def padded(self, chosen: NDArray[np.intp]) -> tuple[Ids, Ids]:
        """Some texts as (words x texts), padded with row 0, and their lengths."""
        lengths = self.lengths[chosen]
        steps = np.arange(int(lengths.max(initial=1)))[:, None]
        inside = steps < lengths
        places = np.where(inside, self.starts[chosen] + steps, 0)
        rows = np.where(inside, self.ids[places], 0).astype(np.int32)
        return rows, lengths.astype(np.int32)


class WordTable:
    """The words that a network knows, and their rows."""

    __slots__ = ("index", "matrix")

    def __init__(self, vocabulary: Sequence[str], matrix: NDArray[np.float16]) -> None:
        self.index: Mapping[str, int] = {word: row for row, word in enumerate(vocabulary)}
        self.matrix = matrix

    def rows(self, found: Sequence[Sequence[str]]) -> Batch:
        """Words of texts as rows; unknown ones are left out."""
        index = self.index
        known = [[index.get(word, UNKNOWN) for word in text] for text in found]
        for text, ids in zip(found, known, strict=True):
            if UNKNOWN in ids:
                near = (i if i >= 0 else detour(word, index) for i, word in zip(ids, text))  # noqa: B905
                ids[:] = [i for i in near if i != UNKNOWN]
        lengths = np.fromiter(map(len, known), np.int64, len(known))
        flat = np.fromiter(chain.from_iterable(known), np.int32, int(lengths.sum()))
        return Batch(flat, lengths)


def known_words(
    vectors: WordVectors, pages: Sequence[Sequence[str]], keywords: Sequence[str]
) -> list[str]:
    """The vocabulary of a table: frequent words, and those of the training pages that have
    a vector or occur in two pages. The order is fixed."""
    pages_with: dict[str, int] = {}
    for page in pages:
        for word in dict.fromkeys(page):
            pages_with[word] = pages_with.get(word, 0) + 1
    frequent = dict.fromkeys(vectors.frequent(FREQUENT))
    kept = [word for word, n in pages_with.items() if n > 1 or word in vectors]
    return list(frequent | dict.fromkeys(kept) | dict.fromkeys(keywords))


def scaled_vectors(vectors: WordVectors, vocabulary: Sequence[str]) -> NDArray[np.float32]:
    """One row per word: its vector, standardised; zeros where it has none."""
    sample = vectors.matrix[:SCALED_BY].astype(np.float32)
    mean, deviation = sample.mean(0), sample.std(0)
    rows = vectors.rows(vocabulary)
    scaled: NDArray[np.float32] = (vectors.matrix[rows].astype(np.float32) - mean) / np.maximum(
        deviation, 1e-6
    )
    scaled[rows == UNKNOWN] = 0.0
    return scaled
