"""WordPiece: a word that a vocabulary lacks, as pieces that it has.

From the start of the word, the longest piece of the vocabulary is cut off again and again; pieces
after the first are written with `##`. *cellists* becomes `cell ##ists`. If something is left for
which there is no piece, or the word is very long, the whole word is unknown. These are the rules of
BERT, whose lower-case vocabularies have no accents, so a word that is not in the vocabulary loses
its own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

LONGEST_WORD = 100
"""Characters; a longer word is unknown, as for BERT."""
INSIDE = "##"


class WordPieces:
    """The places in a vocabulary that make up a word.

    The first `pieces` entries may be pieces of words, the others stand for whole words only.
    """

    def __init__(self, index: Mapping[str, int], pieces: int) -> None:
        self._index = index
        self._pieces = pieces
        self._longest = max(map(len, index), default=0)

    def places(self, word: str) -> list[int]:
        """One place if the vocabulary has the word, those of its pieces if not; none at worst."""
        for form in (word, plain(word)):
            if form in self._index:
                return [self._index[form]]
        return self._split(plain(word))

    def _split(self, word: str) -> list[int]:
        found: list[int] = []
        begin = 0
        while begin < len(word) <= LONGEST_WORD:
            begin, place = self._longest_piece(word, begin)
            if place < 0:
                return []
            found.append(place)
        return found

    def _longest_piece(self, word: str, begin: int) -> tuple[int, int]:
        """Where the longest piece from `begin` on ends, and its place, -1 if there is none."""
        prefix = INSIDE if begin else ""
        for end in range(min(len(word), begin + self._longest), begin, -1):
            place = self._index.get(prefix + word[begin:end], self._pieces)
            if place < self._pieces:
                return end, place
        return begin, -1


def plain(word: str) -> str:
    """A word without accents and other marks, decomposed.

    >>> plain("Brontë")
    'Bronte'
    """
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
