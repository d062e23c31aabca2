"""Keywords as the words that stand for them in a text: in lower case, singular and plural."""

from __future__ import annotations

from collections.abc import Iterable

from tres.topic.text import words


def keyword_forms(keywords: Iterable[str]) -> frozenset[str]:
    """The words of the keywords and their regular English plurals.

    >>> sorted(keyword_forms(["city", "Gene"]))
    ['cities', 'city', 'citys', 'gene', 'genees', 'genes']
    """
    forms: set[str] = set()
    for word in (word for keyword in keywords for word in words(keyword)):
        forms |= {word, f"{word}s", f"{word}es"}
        if word.endswith("y"):
            forms = (forms - {f"{word}es"}) | {f"{word[:-1]}ies"}
    return frozenset(forms)
