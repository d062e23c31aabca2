"""The codes of the languages that tres can identify: those of CLD2 in the spelling of ISO 639.

`live.languages`, the claims of pages and the identifier itself must mean the same language by the
same code, so all of them pass through `base_code`.
"""

from __future__ import annotations

from difflib import get_close_matches

import pycld2

_BASE = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "nb": "no", "nn": "no"}
"""Codes that are out of date, and the two written forms of Norwegian."""
_JOKES = ("X_KLINGON", "X_PIG_LATIN")


def base_code(tag: str) -> str:
    """Return the language of a tag, without its region and script.

    >>> base_code("EN-us"), base_code("zh-Hant"), base_code("nb")
    ('en', 'zh', 'no')
    """
    code = tag.strip().lower().replace("_", "-").partition("-")[0]
    return _BASE.get(code, code)


_CODES = dict(pycld2.LANGUAGES)
LANGUAGES = {
    base_code(_CODES[name]): name.replace("_", " ").title()
    for name in reversed(pycld2.DETECTED_LANGUAGES)
    if not _CODES[name].startswith("xx-") and name not in _JOKES
}
"""English names by code; of two names for one code, the shorter (Norwegian, Chinese)."""


def suggest_codes(wrong: str) -> str:
    """Return the codes that somebody may have meant, for the end of a message.

    >>> suggest_codes("german")
    'did you mean de (German)?'
    """
    by_name = {name.lower(): code for code, name in LANGUAGES.items()}
    near = [by_name[name] for name in get_close_matches(wrong.lower()[:40], by_name, cutoff=0.75)]
    near = near or sorted(code for code in LANGUAGES if code.startswith(wrong.lower()[:1]))
    shown = ", ".join(f"{code} ({LANGUAGES[code]})" for code in near)
    return f"did you mean {shown}?" if near else "for example en, de or zh"
