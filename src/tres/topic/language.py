"""The language of a text, by its script and its commonest words.

A script that one language uses decides at once: kana is Japanese, Hangul Korean, Greek Greek.
Chinese characters without kana are Chinese; Cyrillic, Arabic and Devanagari are given to the
language that most pages in them are written in, which is a guess. Texts in Latin letters are
told apart by function words: every language has some that nearly every sentence uses. The
language with most of them wins, if it has `LEAST` in the first `CHARS` characters and is not
level with another; otherwise the answer is "" (unknown), as for a list of names or numbers.

This is a note on the page, for people and for filters. It takes no part in any decision.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, repeat

from tres.topic.text import STOP_WORDS

CHARS = 600
LEAST = 3
SCRIPT_SHARE = 0.3
"""Share of the letters that must be in a script for it to decide."""

_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af\u1100-\u11ff]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_LATIN = {
    "en": "the and of to in is that for with was are this from by be as have which not it or an",
    "de": "der die und das ist nicht ein eine mit den von zu auf für im sich dem des auch werden",
    "fr": "le la les et des est une dans pour que qui sur pas par avec du au sont plus ce",
    "es": "el la los de y que en las por con para una es del se como más pero su lo",
    "it": "il di che la e per una non con sono del della nel è gli alla più dei anche come",
    "pt": "o os de que e do da em um para com não uma as dos no na por mais ao",
    "nl": "de het een en van is dat niet op te voor met zijn aan die door ook bij worden naar",
    "sv": "och att det som en är på för av med till den inte ett har om var de från kan",
    "da": "og at det som en er på for af med til den ikke et har om var de fra kan",
    "pl": "i w na z jest do się nie to że od przez jak po jego oraz dla który są ale",
    "cs": "a v na se je že s z do o pro jako jsou ale by byl které od nebo také",
    "fi": "ja on ei että oli se hän mutta ovat kun myös tai joka sen mukaan kuin ole niin",
    "tr": "ve bir bu için ile olarak da de olan en çok daha gibi sonra kadar ne olan ya",
    "ro": "și de a la în cu pe un o este care din pentru nu mai sau fi sunt ca prin",
    "hu": "a az és egy hogy nem is volt meg de ez csak mint már el van vagy még ki",
}
_COMMON = {
    # Words that English pages use as well (and single letters) prove nothing for another language.
    language: set(common.split()) - (frozenset() if language == "en" else STOP_WORDS)
    for language, common in _LATIN.items()
}
_LANGUAGES: dict[str, tuple[str, ...]] = {
    word: tuple(language for language, common in _COMMON.items() if word in common)
    for common in _COMMON.values()
    for word in common
}
_WORD = re.compile(r"[^\W\d_]+")
_NOT_LATIN = re.compile("[\u0370-\uffff]")


def language_of(text: str) -> str:
    """The code of the language (ISO 639-1), or "" if it cannot be told.

    >>> language_of("The cell is the unit of life."), language_of("Die Zelle ist nicht das Ende.")
    ('en', 'de')
    >>> language_of("生物学は生命を研究する"), language_of("1984")
    ('ja', '')
    """
    start = text[:CHARS]
    if not start.isascii() and (language := _by_script(start)):
        return language
    return _by_words(_WORD.findall(start.lower()))


def _by_script(text: str) -> str:
    foreign = len(_NOT_LATIN.findall(text))
    if foreign == 0:
        return ""
    letters = sum(map(str.isalpha, text))
    counts = {language: len(script.findall(text)) for language, script in _SCRIPTS.items()}
    if counts["ja"] > 0.05 * letters:  # kana beside many Chinese characters
        return "ja"
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] >= SCRIPT_SHARE * max(1, letters) else ""


def _by_words(found: list[str]) -> str:
    votes = Counter(chain.from_iterable(map(_LANGUAGES.get, found, repeat(()))))
    best = votes.most_common(2)
    if not best or best[0][1] < LEAST or (len(best) == 2 and best[1][1] == best[0][1]):
        return ""
    return best[0][0]
