"""Words: how tres splits text, for matching and for the models.

A word is a longest run of letters, digits and combining marks, case-folded and in
Unicode's composed form (NFC), so that text and keywords match however they are typed.
Apostrophes and hyphens end a word: "cell's" contains `cell`, "open-source" contains `open`
and `source`, "l'eau" contains `eau`. Keywords are split by the same rule, so "O'Brien" matches
as two words.

Scripts written without spaces give one word per character, with the marks on it: Chinese
characters, kana, and the letters of Thai, Lao, Burmese and Khmer. So their words become
phrases, and a keyword matches wherever its characters stand side by side. Real words would
need a dictionary of each language. A Chinese character has a meaning that a model can learn; a
Thai letter hardly does, so there keywords work and models are weak.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_UNSPACED = (
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e80-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u1780-\u17b3"
)
"""Hiragana, katakana, Chinese characters; the letters of Thai and Lao, Burmese, Khmer."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d57\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
"""Combining marks of Latin, Cyrillic, Hebrew, Arabic, Indic scripts, Thai, Lao, Burmese and
Khmer: part of a word, though Python's `\\w` does not know them."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_SPACED = rf"[^\W_{_UNSPACED}]"
_WORD = re.compile(rf"[{_UNSPACED}][{_MARKS}]*|{_SPACED}+(?:[{_MARKS}]+{_SPACED}*)*")
_OVERLOADED = re.compile(r"([^\w\x00-\x7f]{30})[^\w\x00-\x7f]++")
"""The time of composing grows with the square of the marks on a letter. Stream-safe Unicode text
has at most 30 of them; marks are not letters, so longer runs of other characters are cut to 30."""

STOP_WORDS = frozenset(
    """
    a about after again all also although am among an and another any are as at b be
    because been before being between both but by c can cannot could d did do does doing
    don done down during e each either else etc even ever every f few for from further g
    get go h had has have having he her here hers him his how however i if in into is it
    its itself j just k l least less let like ll m made make many may me might more most
    much must my n neither no nor not now o of off often on once one only onto or other
    our out over own p per perhaps q quite r rather re s said same see shall she should
    since so some such t than that the their them then there these they this those though
    through thus to too two u under until up upon us use used using v ve very via w was we
    well were what when where whether which while who whom whose why will with within
    without would x y yet you your z
    """.split()
)
"""English words that say nothing about a topic, including single letters."""


def words(text: str) -> list[str]:
    """Return all words of a text, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(_composed(text.casefold()))


def content_words(text: str) -> list[str]:
    """Return the different words of a text that are no stop words, in order."""
    return list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


def placed_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and folded form of each word of a text in composed form (NFC)."""
    for found in _WORD.finditer(text):
        yield *found.span(), _composed(found[0].casefold())


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", _OVERLOADED.sub(r"\1", text))
