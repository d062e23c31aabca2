"""URLs of the generated web: from page to URL and back, without storing them.

A URL contains the numbers of its page (`17` is the site, `3` the page there):

    http://stellar-notes17.example/2019/telescope-3.html

The words around the numbers follow from hashes of them, so a URL is valid only if it is exactly
the one for the numbers in it; everything else is a dead link.

Two kinds of sites have more URLs than pages. In one, every month has a calendar page that
links to the next. In the other, a visitor without a session id gets one in all links of the page,
so each id is another copy of the whole site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from tres.offline.generated.graph import Graph
from tres.offline.generated.word_lists import COMMON_WORDS, NO_TOPIC, vocabulary

SITE_KINDS = """
    notes world online guide blog club journal corner archive press review daily forum house
    pages society
""".split()
FIRST_YEAR, YEARS = 2004, 20

_MASK = (1 << 64) - 1
_PAGE = re.compile(r"(?:\d{4}/[a-z]+-(\d{1,9})\.html)?(?:\?sid=([0-9a-f]{8}))?")
_MONTH = re.compile(r"calendar/(\d{4,9})-(\d\d)\.html")
_URL = re.compile(r"http://[a-z]+-[a-z]+(\d{1,9})\.example/(.*)")


def hash_numbers(*numbers: int) -> int:
    """Return a hash of small numbers, the same on every machine (SplitMix64)."""
    state = 0
    for number in numbers:
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


class Trap(Enum):
    """The endless part of a site."""

    NONE = 0
    CALENDAR = 1
    SESSION = 2


@dataclass(frozen=True, slots=True)
class PageAt:
    """One page, within a session or outside of any."""

    number: int
    session: str = ""


@dataclass(frozen=True, slots=True)
class CalendarAt:
    """A month of a site's calendar, counted from year 0."""

    site: int
    month: int


class Addresses:
    """All URLs of a graph."""

    def __init__(self, graph: Graph, seed: int, traps: float) -> None:
        self._graph = graph
        self._seed = seed
        self._traps = traps

    def url(self, page: int, session: str = "") -> str:
        """Return the URL of a page."""
        graph = self._graph
        site = int(graph.site[page])
        index = page - int(graph.site_start[site])
        query = f"?sid={session}" if session else ""
        if not index:
            return f"http://{self.host(site)}/{query}"
        year = FIRST_YEAR + hash_numbers(self._seed, page, 1) % YEARS
        return f"http://{self.host(site)}/{year}/{self.headword(page)}-{index}.html{query}"

    def calendar(self, site: int, month: int) -> str:
        """Return the URL of a month in the calendar of a site."""
        year, in_year = divmod(month, 12)
        return f"http://{self.host(site)}/calendar/{year:04}-{in_year + 1:02}.html"

    def host(self, site: int) -> str:
        """Return the host name of a site, existing or not: mostly a word of its topic."""
        draw = hash_numbers(self._seed, site, 2)
        known = site < len(self._graph.site_topic) and draw % 4
        words = vocabulary(int(self._graph.site_topic[site]) if known else NO_TOPIC)
        return f"{words[draw // 4 % len(words)]}-{SITE_KINDS[draw % len(SITE_KINDS)]}{site}.example"

    def headword(self, page: int) -> str:
        """Return the word that a page is named after: mostly one of its subject."""
        draw = hash_numbers(self._seed, page, 3)
        words = vocabulary(int(self._graph.subject[page])) if draw % 3 else COMMON_WORDS
        return words[draw // 3 % len(words)]

    def trap(self, site: int) -> Trap:
        """Return the trap of a site; most have none."""
        draw = hash_numbers(self._seed, site, 4) / (_MASK + 1)
        if draw < self._traps:
            return Trap.CALENDAR
        return Trap.SESSION if draw < 2 * self._traps else Trap.NONE

    def session_of(self, page: int) -> str:
        """Return the session id of a visitor who enters at a page; empty without sessions."""
        if self.trap(int(self._graph.site[page])) is not Trap.SESSION:
            return ""
        return f"{hash_numbers(self._seed, page, 5) >> 32:08x}"

    def dead(self, draw: int) -> str:
        """Return a URL without a page, on a site that exists or not."""
        sites = len(self._graph.site_topic)
        site = draw % (2 * sites)
        return f"http://{self.host(site)}/{FIRST_YEAR}/{COMMON_WORDS[draw % 100]}-0.html"

    def locate(self, url: str) -> PageAt | CalendarAt | None:
        """Return the page or month at a URL."""
        parts = _URL.fullmatch(url)
        if not parts or (site := int(parts[1])) >= len(self._graph.site_topic):
            return None
        if month := _MONTH.fullmatch(parts[2]):
            return self._located_month(url, site, int(month[1]) * 12 + int(month[2]) - 1)
        page = _PAGE.fullmatch(parts[2])
        return self._located_page(url, site, int(page[1] or 0), page[2] or "") if page else None

    def _located_month(self, url: str, site: int, month: int) -> CalendarAt | None:
        known = self.trap(site) is Trap.CALENDAR and self.calendar(site, month) == url
        return CalendarAt(site, month) if known else None

    def _located_page(self, url: str, site: int, index: int, session: str) -> PageAt | None:
        if index >= self._graph.size_of(site):
            return None
        if session and self.trap(site) is not Trap.SESSION:
            return None
        number = int(self._graph.site_start[site]) + index
        return PageAt(number, session) if self.url(number, session) == url else None
