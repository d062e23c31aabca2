"""Keyword matching: is a keyword in the anchor or the URL of a link?

Two features of the paper (section 3.2) are yes or no: a keyword or key phrase in the anchor
text, and a keyword in the text of the URL. A crawl computes both for every link, so both take
about a microsecond, with few keywords or with hundreds.

In text a keyword must be a whole word. URLs run words together ("marinebiology.org"),
so there a keyword of four letters or more may be part of a word; a shorter one must be a whole
word, as it would match by accident ("art" in "start").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from os.path import commonprefix
from typing import Any
from urllib.parse import unquote

from tres.topic.text import words

PART_OF_WORD = 4
"""Letters that a keyword needs to match a part of a word in a URL."""
CACHED = 1 << 14
"""Cached results for anchors, and for URLs."""


class KeywordMatcher:
    """Finds the keywords and key phrases of one topic, in any script.

    >>> matcher = KeywordMatcher(["biology", "DNA"], ["natural selection"])
    >>> matcher.in_text("On Natural  Selection"), matcher.in_text("selection of natural food")
    (True, False)
    >>> matcher.in_url("http://marinebiology.org/"), matcher.in_url("http://x.org/dnase")
    (True, False)
    """

    def __init__(self, keywords: Iterable[str], phrases: Iterable[str] = ()) -> None:
        self._given = tuple(keywords), tuple(phrases)
        sought = [tuple(words(keyword)) for keyword in self._given[0]]
        terms = {term for term in (*sought, *(tuple(words(p)) for p in self._given[1])) if term}
        self._single = frozenset(term[0] for term in terms if len(term) == 1)
        self._phrases = frozenset(f" {' '.join(term)} " for term in terms if len(term) > 1)
        self._all_words = frozenset(word for term in terms for word in term)
        self._phrase_starts = frozenset(term[0] for term in terms if len(term) > 1)
        self._url_words = _url_pattern({" ".join(term) for term in sought if term})
        # The pages of a site repeat their links, so most results are cached.
        self.in_text = lru_cache(maxsize=CACHED)(self._in_text)
        self.in_url = lru_cache(maxsize=CACHED)(self._in_url)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the keywords: caches cannot be pickled."""
        return KeywordMatcher, self._given

    def density(self, text: str) -> float:
        """Return the share of a text's words that are keywords, or words of key phrases.

        >>> KeywordMatcher(["honey"], ["queen bee"]).density("honey for the queen")
        0.5
        """
        found = words(text)
        return sum(word in self._all_words for word in found) / max(1, len(found))

    def _in_text(self, text: str) -> bool:
        """Return whether a keyword or a key phrase occurs, as whole words."""
        found = words(text)
        if not self._single.isdisjoint(found):
            return True
        if self._phrase_starts.isdisjoint(found):
            return False
        line = f" {' '.join(found)} "
        return any(phrase in line for phrase in self._phrases)

    def _in_url(self, url: str) -> bool:
        """Return whether a keyword occurs in the words of a URL."""
        decoded = unquote(url) if "%" in url else url
        return self._url_words.search(" ".join(words(decoded))) is not None


def keyword_forms(keywords: Iterable[str]) -> frozenset[str]:
    """Return the words of the keywords and their regular English plurals.

    >>> sorted(keyword_forms(["city", "Gene"]))
    ['cities', 'city', 'citys', 'gene', 'genees', 'genes']
    """
    forms: set[str] = set()
    for word in chain.from_iterable(map(words, keywords)):
        plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}es"
        forms |= {word, f"{word}s", plural}
    return frozenset(forms)


def _url_pattern(keywords: set[str]) -> re.Pattern[str]:
    """Return one pattern for all keywords, to search in words joined by single blanks."""
    parts = [word for word in keywords if len(word) >= PART_OF_WORD]
    wholes = [rf"(?<!\S){re.escape(word)}(?!\S)" for word in keywords if len(word) < PART_OF_WORD]
    alternatives = [_tree_pattern(parts)] if parts else []
    return re.compile("|".join([*alternatives, *sorted(wholes)]) or r"(?!)")


def _tree_pattern(keywords: Iterable[str]) -> str:
    """Return a pattern with shared beginnings, `bio(?:logy|sphere)`: its cost at a position
    does not grow with the number of keywords. A keyword that begins with another one is left
    out, as the shorter one matches too."""
    keywords = list(keywords)
    shared = commonprefix(keywords)  # noqa: RUF071 (characters are meant, not parts of a path)
    if shared in keywords:
        return re.escape(shared)
    followers: dict[str, list[str]] = {}
    for keyword in keywords:
        head = keyword[: len(shared) + 1]
        followers.setdefault(head[-1], []).append(keyword[len(head) :])
    branches = [re.escape(head) + _tree_pattern(rest) for head, rest in sorted(followers.items())]
    return f"{re.escape(shared)}(?:{'|'.join(branches)})"
