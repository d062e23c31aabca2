"""Words: the one way in which tres cuts text, for matching and for the models.

A word is a longest run of letters, digits and combining marks, case-folded and in
Unicode's composed form (NFC), so that text and keyword meet however they are typed.
Apostrophes and hyphens end a word: "cell's" holds `cell`, "open-source" holds `open`
and `source`, "l'eau" holds `eau`. Keywords are cut by the same rule, so "O'Brien" is
found as the two words it becomes. Scripts written without spaces give one word per
character (Chinese characters, kana), which turns their words into phrases.
"""

from __future__ import annotations

import re
import unicodedata

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Hiragana, katakana and Chinese characters."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d57\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
"""Combining marks of Latin, Cyrillic, Hebrew, Arabic, Indic scripts and Thai: part of a
word, though Python's `\\w` does not know them."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:[{_MARKS}]+[^\W_{_UNSPACED}]*)*")

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
"""English words that say nothing about a topic, single letters among them."""


def words(text: str) -> list[str]:
    """All words of a text, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFC", text.casefold()))
