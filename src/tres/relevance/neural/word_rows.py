"""What a recurrent network reads of a text: the words that count, as rows of a table.

A network reads from the start and not without end: a page is its title, twice, and then
its text, `TOKENS` words in all. (The title names the subject; said twice it weighs more
with a network that averages over words.) A text of one line, such as an anchor, is read
as it is. Words that the table does not hold are passed over.

The table holds one row per word: its vector, brought to mean 0 and deviation 1 in every
dimension, and as a last column its *leaning* (`tres.relevance.neural.linear_features`). It is
stored in half precision, for the words of the training pages and the most frequent words of the
vectors, so a model needs no file of vectors once it is trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from tres.relevance.tfidf import TITLE_WEIGHT
from tres.topic.text import words
from tres.topic.vectors.vocabulary import UNKNOWN, detour
from tres.topic.vectors.word_vectors import WordVectors

TOKENS = 300
TITLES = 2
CHARS = 20_000
"""Characters of a text that are looked at, at all."""
FREQUENT = 60_000
"""Words of the vectors that every table holds; vectors are sorted by frequency."""
SCALED_BY = 20_000
"""Words over which mean and deviation of the vectors are taken."""

Ids = NDArray[np.int32]


def cut(text: str) -> tuple[list[str], list[str]]:
    """The words of the title, if there is one, and those of the text, up to a limit."""
    title, newline, body = text[:CHARS].partition("\n")
    return (words(title), words(body)) if newline else ([], words(title))


def read(text: str) -> list[str]:
    """The words that a network reads of a text.

    >>> read("Bees\\nmake honey")
    ['bees', 'bees', 'make', 'honey']
    """
    title, body = cut(text)
    return (title * TITLES + body)[:TOKENS]


def heard(text: str) -> list[str]:
    """The words on which a linear model's opinion rests: all, and the title's as often as
    they count."""
    title, body = cut(text)
    return title * TITLE_WEIGHT + body


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

    def rows(self, found: Iterable[Sequence[str]]) -> Batch:
        """Words of texts as rows; unknown ones are left out."""
        return _batch([_known(self._ids(text)) for text in found])

    def read_and_heard(self, texts: Sequence[str]) -> tuple[Batch, Batch]:
        """What `read` and `heard` give, as rows; every word is looked up once."""
        reads, heards, differ = [], [], False
        for text in texts:
            title, body = map(self._ids, cut(text))
            reads.append(_known((title * TITLES + body)[:TOKENS]))
            if title or len(body) > TOKENS:
                differ = True
                heards.append(_known(title * TITLE_WEIGHT + body))
            else:  # an anchor: all of it is read
                heards.append(reads[-1])
        batch = _batch(reads)
        return batch, _batch(heards) if differ else batch

    def _ids(self, found: Sequence[str]) -> list[int]:
        index = self.index
        ids = list(map(index.get, found, repeat(UNKNOWN)))
        if UNKNOWN in ids:
            for place in [place for place, i in enumerate(ids) if i == UNKNOWN]:
                if not found[place].isascii() or found[place].isdecimal():
                    ids[place] = detour(found[place], index)
        return ids


def _known(ids: list[int]) -> list[int]:
    return [i for i in ids if i >= 0] if UNKNOWN in ids else ids


def _batch(ids: list[list[int]]) -> Batch:
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    return Batch(np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum())), lengths)


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
