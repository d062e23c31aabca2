"""The language of a text, identified by CLD2, the detector that was written for Chrome.

CLD2 scores sequences of four letters with naive Bayes models of 160 languages, and says itself when
a text is no evidence. Of those compared it is the most accurate, and the fastest to load and to run
(benchmarks/languages.py; figures in docs/few-labels.md). The answer depends on the text alone.

This is a note on the page, for people and for filters. It takes no part in any decision.
"""

from __future__ import annotations

import pycld2

from tres.settings.language_codes import LANGUAGES, base_code

CHARS = 1_000
"""Characters that are read, from the start."""
LEAST_BYTES = 24
"""Letters in UTF-8 below which a text is too short: three names look like any language."""
LEAST_PERCENT = 70
"""Part of the text that must be in the language: menus and lists look like several."""


def language_of(text: str) -> str:
    """Return the ISO 639 code of the language, or "" if the text does not tell.

    >>> language_of("Клітина є найменшою одиницею життя."), language_of("1984")
    ('uk', '')
    """
    start = text[:CHARS]
    try:
        code = _detect(start)
    except pycld2.error:  # control characters, which the detector refuses to read
        code = _detect("".join(char if char.isprintable() else " " for char in start))
    return code if code in LANGUAGES else ""


def _detect(text: str) -> str:
    reliable, size, found = pycld2.detect(text.encode("utf-8", "replace"), isPlainText=True)
    _, code, percent, _ = found[0]
    return base_code(code) if reliable and size >= LEAST_BYTES and percent >= LEAST_PERCENT else ""
