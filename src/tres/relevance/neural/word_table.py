"""The input of a recurrent network: the words of a text, as rows of a table of vectors.

A network reads a limited number of words from the start: a page is its title, twice, and then its
text, `MAX_TOKENS` words in all. (The title names the subject; repeated, it weighs more in a network
that averages over words.) A text of one line, such as an anchor, is read as it is. Words that are
not in the table are skipped.

The table has one row per word: its vector, standardised to mean 0 and deviation 1 in every
dimension, and in the last column its *linear feature* (`tres.relevance.neural.linear_features`). It
is stored in half precision, for the words of the training pages and the most frequent words of the
vectors, so a trained model needs no file of vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from tres.relevance.tfidf import TITLE_WEIGHT
from tres.topic.text import words
from tres.topic.vectors.vocabulary import UNKNOWN, fallback_row
from tres.topic.vectors.word_vectors import WordVectors

MAX_TOKENS = 300
TITLE_REPEATS = 2
MAX_CHARS = 20_000
"""Characters of a text that are looked at."""
FREQUENT = 60_000
"""Words of the vectors that every table holds; vectors are sorted by frequency."""
SCALED_BY = 20_000
"""Words over which mean and deviation of the vectors are taken."""

Ids = NDArray[np.int32]


def title_and_body(text: str) -> tuple[list[str], list[str]]:
    """The words of the title, if there is one, and of the body, up to a limit."""
    title, newline, body = text[:MAX_CHARS].partition("\n")
    return (words(title), words(body)) if newline else ([], words(title))


def network_tokens(text: str) -> list[str]:
    """The words of a text that the LSTM reads.

    >>> network_tokens("Bees\\nmake honey")
    ['bees', 'bees', 'make', 'honey']
    """
    title, body = title_and_body(text)
    return (title * TITLE_REPEATS + body)[:MAX_TOKENS]


@dataclass(frozen=True, slots=True)
class RaggedRows:
    """Texts of different lengths as rows of a table, one after the other in one array."""

    ids: Ids
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum(self.lengths) - self.lengths

    def select(self, chosen: NDArray[np.intp]) -> RaggedRows:
        """Some of the texts."""
        starts = self.starts
        pieces = [self.ids[starts[i] : starts[i] + self.lengths[i]] for i in chosen]
        return RaggedRows(np.concatenate([np.empty(0, np.int32), *pieces]), self.lengths[chosen])

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

    def network_and_linear_rows(self, texts: Sequence[str]) -> tuple[RaggedRows, RaggedRows]:
        """The rows of the known words that the network reads, and that the linear model reads.

        The linear model reads all words, those of the title `TITLE_WEIGHT` times.
        """
        network, linear, differ = [], [], False
        for text in texts:
            title, body = map(self._ids, title_and_body(text))
            network.append(_known((title * TITLE_REPEATS + body)[:MAX_TOKENS]))
            if title or len(body) > MAX_TOKENS:
                differ = True
                linear.append(_known(title * TITLE_WEIGHT + body))
            else:  # an anchor: both read the same
                linear.append(network[-1])
        rows = _ragged(network)
        return rows, _ragged(linear) if differ else rows

    def _ids(self, tokens: Sequence[str]) -> list[int]:
        index = self.index
        ids = list(map(index.get, tokens, repeat(UNKNOWN)))
        if UNKNOWN in ids:
            for place in [place for place, i in enumerate(ids) if i == UNKNOWN]:
                if not tokens[place].isascii() or tokens[place].isdecimal():
                    ids[place] = fallback_row(tokens[place], index)
        return ids


def _known(ids: list[int]) -> list[int]:
    return [i for i in ids if i >= 0] if UNKNOWN in ids else ids


def _ragged(ids: list[list[int]]) -> RaggedRows:
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum()))
    return RaggedRows(flat, lengths)


def table_vocabulary(
    vectors: WordVectors, pages: Sequence[str], keywords: Sequence[str]
) -> list[str]:
    """The words of a table, in a fixed order: frequent words, keywords, and the words of the
    training pages that have a vector or occur in two pages."""
    pages_with: Counter[str] = Counter()
    for title, body in map(title_and_body, pages):
        pages_with.update(dict.fromkeys(title + body, 1))
    frequent = dict.fromkeys(vectors.frequent(FREQUENT))
    of_pages = [word for word, n in pages_with.items() if n > 1 or word in vectors]
    return list(frequent | dict.fromkeys(of_pages) | dict.fromkeys(keywords))


def standardised_vectors(vectors: WordVectors, vocabulary: Sequence[str]) -> NDArray[np.float32]:
    """One row per word: its vector, standardised; zeros for a word without one."""
    sample = vectors.matrix[:SCALED_BY].astype(np.float32)
    mean, deviation = sample.mean(0), sample.std(0)
    rows = vectors.rows(vocabulary)
    scaled: NDArray[np.float32] = (vectors.matrix[rows].astype(np.float32) - mean) / np.maximum(
        deviation, 1e-6
    )
    scaled[rows == UNKNOWN] = 0.0
    return scaled
