"""Keyword counts: what a KwBiLSTM takes as input besides the words.

Three numbers per text, each about 0 to 1: how often keywords and key phrases occur (the logarithm,
so that the first occurrence counts most), their share of the words, and how many different ones
occur (the logarithm again).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import words


class KeywordCounter:
    """Counts the keywords and key phrases of one topic, as whole words.

    >>> counter = KeywordCounter(["cell", "DNA"], ["natural selection"])
    >>> counter.count("natural selection in a cell and a cell".split())
    (3, 2)
    """

    def __init__(self, keywords: Sequence[str], phrases: Sequence[str] = ()) -> None:
        self.keywords, self.phrases = tuple(keywords), tuple(phrases)
        terms = {tuple(words(term)) for term in (*keywords, *phrases)} - {()}
        self._single = frozenset(term[0] for term in terms if len(term) == 1)
        self._longer = sorted(term for term in terms if len(term) > 1)
        self._first_words = frozenset(term[0] for term in self._longer)

    @property
    def words(self) -> list[str]:
        """All words of all keywords and phrases, in a fixed order."""
        return sorted(self._single.union(*self._longer))

    def count(self, tokens: Sequence[str]) -> tuple[int, int]:
        """Occurrences among the words of a text, and how many different terms occur."""
        single = [word for word in tokens if word in self._single]
        total, different = len(single), len(set(single))
        if not self._first_words.isdisjoint(tokens):
            line = f" {'  '.join(tokens)} "  # two blanks, so that neighbours do not share one
            for term in self._longer:
                times = line.count(f" {'  '.join(term)} ")
                total += times
                different += times > 0
        return total, different

    def features(self, texts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """The three numbers of each text."""
        counts = np.array([self.count(tokens) for tokens in texts], np.float32).reshape(-1, 2)
        lengths = np.array([max(1, len(tokens)) for tokens in texts], np.float32)
        total, different = counts[:, 0], counts[:, 1]
        return np.stack([np.log1p(total) / 3, total / lengths, np.log1p(different) / 2], 1)
