"""Endless URL spaces that only show over many pages of a site, detected in bounded memory.

Two kinds of URL are counted, each by what it varies:

- `combinations`: one path with three or more parameters. A shop or a catalogue links to every
  combination of its filters and orders. Fewer parameters name things, and a path may have any
  number of things.
- `dates`: a year and month at the end of a path or in a query, by site: the leaves of a calendar.
  Articles have a date as well, but there it is followed by a name.

A link beyond the limit of its kind is dropped, unless it was accepted before. Accepted links are in
a Bloom filter, and the counts in a small table of counters that URLs share by hash. So memory is
fixed; at worst, after hundreds of thousands of such links, one is mistaken for another. The state
is a fold over the accepted links (`remember`), in any order: a resumed crawl rebuilds it from its
recorded percepts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from tres.web.percept import Percept
from tres.web.url import site_of

LIMITS = {"combinations": 200, "dates": 400}
CELLS = 1 << 18
BITS = 1 << 23

_DATE = re.compile(
    r"(?:/(?:19|20)\d\d[/.-](?:0?[1-9]|1[0-2])(?:[/.-][0-3]?\d)?/?$"
    r"|[?&][a-z_]*(?:date|month|day|week|year)[a-z_]*=(?:19|20)\d\d)",
    re.IGNORECASE,
)


class EndlessSpaces:
    """Counts the links of a crawl that may belong to an endless space."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self._counts = np.zeros((2, CELLS), np.uint16)
        self._known = np.zeros(BITS // 8, np.uint8)

    def without_full_spaces(self, percept: Percept) -> Percept:
        """Return the percept without links that lead further into a full space."""
        let_in: Counter[str] = Counter()
        full = [place for place, url in enumerate(percept.links.urls) if self._objects(url, let_in)]
        if not full:
            return percept
        keep = np.ones(len(percept.links), np.bool_)
        keep[full] = False
        return percept.with_links(keep)

    def remember(self, urls: Iterable[str]) -> None:
        """Count links as accepted."""
        for url in urls:
            if (space := space_of(url)) and not self._is_known(url):
                bit = _hash(url, BITS)[0]
                self._known[bit >> 3] |= np.uint8(1 << (bit & 7))
                for row, cell in enumerate(_hash(space[1], CELLS)):
                    self._counts[row, cell] = min(int(self._counts[row, cell]) + 1, 65_535)

    def _objects(self, url: str, let_in: Counter[str]) -> bool:
        """Return whether the space of a URL is full, counting the links accepted from this page."""
        space = space_of(url)
        if space is None or self._is_known(url):
            return False
        kind, name = space
        count = min(int(self._counts[row, cell]) for row, cell in enumerate(_hash(name, CELLS)))
        full = count + let_in[name] >= LIMITS[kind]
        self.dropped[kind] += full
        let_in[name] += not full
        return full

    def _is_known(self, url: str) -> bool:
        bit = _hash(url, BITS)[0]
        return bool(self._known[bit >> 3] >> (bit & 7) & 1)


def space_of(url: str) -> tuple[str, str] | None:
    """Return kind and name of the space that a URL may belong to.

    >>> space_of("http://example.org/shop?color=red&size=9&order=price")
    ('combinations', 'http://example.org/shop')
    >>> space_of("http://www.example.org/2026/05/"), space_of("http://example.org/2026/05/news")
    (('dates', 'dates example.org'), None)
    """
    path, mark, query = url.partition("?")
    year = "/20" in url or "=20" in url or "/19" in url or "=19" in url  # quickly seen
    if year and _DATE.search(url):
        return "dates", f"dates {site_of(url)}"
    if mark and query.count("&") >= 2:
        return "combinations", path
    return None


def _hash(text: str, size: int) -> tuple[int, int]:
    """Return two places in a table of `size`, the same in every run."""
    digest = blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big") % size, int.from_bytes(digest[8:], "big") % size
