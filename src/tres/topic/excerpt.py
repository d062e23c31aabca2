"""The excerpt that best shows whether a page is about the topic, for people who judge it.

Of all stretches of a given length, it is the one with the most different keywords, then with the
most occurrences, then the first. It begins with a sentence if one begins shortly before. A page
without keywords is shown from its start.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tres.topic.text import placed_words, words

CHARS = 220
READ = 20_000
"""Characters of a page that are searched; what matters comes early."""
LEAD = 60
"""Characters before the first keyword in which a sentence may begin."""
ENDS = (". ", "! ", "? ", "\u3002", "\uff01", "\uff1f")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of text in pieces: every second one is a keyword; together they are the text."""

    pieces: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(self.pieces)

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords in it, as they are written."""
        return self.pieces[1::2]


Place = tuple[int, int, tuple[str, ...]]
"""Start and end of an occurrence, and its term."""


def excerpt(text: str, terms: Iterable[str], chars: int = CHARS) -> Excerpt:
    """Return the best stretch of a text, with keywords and phrases as separate pieces.

    >>> excerpt("Bees live in hives. They make honey.", ["honey", "bees"]).pieces
    ('', 'Bees', ' live in hives. They make ', 'honey', '.')
    """
    line = unicodedata.normalize("NFC", " ".join(text[:READ].split()))
    places = _occurrences(line, {tuple(words(term)) for term in terms} - {()})
    start = 0 if len(line) <= chars else _start(line, _best(places, chars))
    end = _end(line, start, chars)
    return Excerpt(tuple(_pieces(line, start, end, places)))


def _occurrences(line: str, terms: set[tuple[str, ...]]) -> list[Place]:
    """Return where terms occur, without overlaps; of two that begin together, the longer."""
    found, places, next_free = list(placed_words(line)), [], 0
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for term in sorted(terms, key=lambda term: (-len(term), term)):
        by_first.setdefault(term[0], []).append(term)
    for number, (start, _, word) in enumerate(found):
        for term in by_first.get(word, ()):
            run = found[number : number + len(term)]
            if start >= next_free and tuple(each for _, _, each in run) == term:
                next_free = run[-1][1]
                places.append((start, next_free, term))
                break
    return places


def _best(places: list[Place], chars: int) -> int:
    """Return where the first keyword of the best stretch begins."""
    ends = [end for _, end, _ in places]

    def rank(number: int) -> tuple[int, int, int]:
        reach = places[number][0] + chars - LEAD
        inside = places[number : bisect_right(ends, reach)]
        return len({term for _, _, term in inside}), len(inside), -number

    return places[max(range(len(places)), key=rank)][0] if places else 0


def _start(line: str, first: int) -> int:
    """Return the start of a sentence shortly before a keyword, or else of a word."""
    earliest = max(0, first - LEAD)
    before = line[earliest:first]
    sentences = [before.rfind(mark) + len(mark) for mark in ENDS if mark in before]
    if earliest == 0:
        return max(sentences, default=0) if first > LEAD // 2 else 0
    return earliest + max(sentences, default=before.find(" ") + 1)


def _end(line: str, start: int, chars: int) -> int:
    """Return the end of the last word that fits."""
    if len(line) <= start + chars:
        return len(line)
    blank = line.rfind(" ", start + chars // 2, start + chars)
    return blank if blank > 0 else start + chars


def _pieces(line: str, start: int, end: int, places: list[Place]) -> Iterator[str]:
    plain = "… " if start else ""
    for begin, stop, _ in places:
        if start <= begin and stop <= end:
            yield plain + line[start:begin]
            yield line[begin:stop]
            plain, start = "", stop
    yield plain + line[start:end] + (" …" if end < len(line) else "")
