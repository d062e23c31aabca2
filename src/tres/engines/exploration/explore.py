"""A short exploratory crawl: texts to learn a topic from when nobody has labelled any.

From the seeds alone two samples are gathered, both of pages that a crawler can really reach:

- *background* pages, by random walks: from the page just fetched a random link is followed,
  always to a site of which least has been fetched, so that a walk does not stay for ever on a
  site that links mostly to itself. After `WALK` pages, or where the page has no such link, the
  walk jumps to a random link known so far (again of a site of which least was fetched). These
  pages stand for the web that a crawl from these seeds meets. They are no uniform sample of
  the web: nobody can draw one.
- *near* pages, found by following keywords: first links whose anchor holds one, and among them
  those found on pages that use more of them; every site in turns of `TURN` pages.

Two thirds of the budget go to the background, one third to the near pages. Dead links cost
nothing, as in a crawl. Labels are never read. One seed number gives one exploration.

The exploration fetches nothing itself: `exploration` is a generator that yields a URL, is sent
what came of it, and returns the samples. `explore` answers it from a web that is here; a live
engine answers it through `tres.engines.exploration.exploring`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from tres.offline.web import Web
from tres.topic.text import words
from tres.web.page import Failed, Outcome, Page
from tres.web.url import site_of

WALK = 30
TURN = 8
NEAR = 1 / 3


@dataclass(frozen=True, slots=True)
class Exploration:
    """Pages by how they were found."""

    seeds: tuple[Page, ...]
    near: tuple[Page, ...]
    background: tuple[Page, ...]
    failed: tuple[Failed, ...] = ()
    """Seeds that gave no page."""

    @property
    def pages(self) -> int:
        """What it has cost."""
        return len(self.seeds) + len(self.near) + len(self.background)


Asking = Generator[str, Outcome, Exploration]
"""An exploration under way: it yields URLs, is sent outcomes, and returns what it has found."""


def explore(
    web: Web,
    seeds: Iterable[str],
    keywords: frozenset[str],
    pages: int,
    rng: np.random.Generator,
) -> Exploration:
    """Explore a web that is here."""
    return answered(exploration(seeds, keywords, pages, rng), web)


def answered(asking: Asking, web: Web) -> Exploration:
    """What an exploration finds in a web that is here."""
    try:
        url = next(asking)
        while True:
            url = asking.send(web.fetch(url))
    except StopIteration as end:
        found: Exploration = end.value
        return found


def exploration(
    seeds: Iterable[str], keywords: frozenset[str], pages: int, rng: np.random.Generator
) -> Asking:
    """Ask for at most `pages` pages, the seeds included; `keywords` are single words."""
    fetcher = _Fetcher()
    start: list[Page] = []
    for url in seeds:
        if len(start) < pages and (page := (yield from fetcher.new_page(url))) is not None:
            start.append(page)
    failed = tuple(fetcher.failed)
    rest = pages - len(start)
    background = yield from _walk(fetcher, start, rest - int(rest * NEAR), rng)
    sources = [*start, *background]
    near = yield from _follow(fetcher, sources, rest - len(background), keywords)
    return Exploration(tuple(start), tuple(near), tuple(background), failed)


@dataclass(slots=True)
class _Fetcher:
    """Remembers what was asked for, so that no page is paid for twice."""

    asked: set[str] = field(default_factory=set)
    failed: list[Failed] = field(default_factory=list)

    def new_page(self, url: str) -> Generator[str, Outcome, Page | None]:
        """The page at a URL, unless it was fetched before or there is none."""
        if url in self.asked:
            return None
        outcome = yield url
        known = {url, outcome.url}
        if isinstance(outcome, Failed):
            self.failed.append(outcome)
        page = outcome if isinstance(outcome, Page) and outcome.url not in self.asked else None
        self.asked |= known
        return page


class _Known:
    """Links that wait, by site, in the order in which they were found."""

    def __init__(self, fetcher: _Fetcher, start: Iterable[Page]) -> None:
        self._asked = fetcher.asked
        self._waiting: dict[str, dict[str, None]] = {}
        self.fetched: Counter[str] = Counter()
        for page in start:
            self.add(page)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, page: Page) -> None:
        """A page was fetched: its links wait."""
        self.fetched[site_of(page.url)] += 1
        for link in page.links:
            if link.url not in self._asked:
                self._waiting.setdefault(site_of(link.url), {})[link.url] = None

    def remove(self, url: str) -> None:
        site = site_of(url)
        if site in self._waiting:
            self._waiting[site].pop(url, None)
            if not self._waiting[site]:
                del self._waiting[site]

    def choose(self, page: Page | None, rng: np.random.Generator) -> tuple[str, bool]:
        """A random link to a site of which least was fetched; of `page`, if it has one."""
        least = min(self.fetched[site] for site in self._waiting)
        if page is not None:
            of_page = [
                link.url
                for link in page.links
                if link.url not in self._asked and self.fetched[site_of(link.url)] == least
            ]
            if of_page:
                return of_page[rng.integers(len(of_page))], True
        sites = [site for site in self._waiting if self.fetched[site] == least]
        urls = list(self._waiting[sites[rng.integers(len(sites))]])
        return urls[rng.integers(len(urls))], False


def _walk(
    fetcher: _Fetcher, start: list[Page], pages: int, rng: np.random.Generator
) -> Generator[str, Outcome, list[Page]]:
    known, found = _Known(fetcher, start), list[Page]()
    page: Page | None = None
    length = 0
    while len(found) < pages and len(known):
        url, follows = known.choose(page if length < WALK else None, rng)
        known.remove(url)
        if (new := (yield from fetcher.new_page(url))) is not None:
            found.append(new)
            known.add(new)
            page, length = new, length + 1 if follows else 1
    return found


def _follow(
    fetcher: _Fetcher, start: list[Page], pages: int, keywords: frozenset[str]
) -> Generator[str, Outcome, list[Page]]:
    """Best first by (turns its site had, keyword in anchor, keywords on the citing page)."""
    queue: list[tuple[int, int, int, int, str]] = []
    turns: Counter[str] = Counter()
    found: list[Page] = []

    def wait(page: Page) -> None:
        richness = len(keywords.intersection(words(page.content)))
        for link in page.links:
            if link.url not in fetcher.asked:
                named = not keywords.isdisjoint(words(link.anchor))
                turn = turns[site_of(link.url)] // TURN
                heappush(queue, (turn, -named, -richness, len(queue), link.url))

    for page in start:
        wait(page)
    while queue and len(found) < pages:
        turn, named, rich, place, url = heappop(queue)
        now = turns[site_of(url)] // TURN
        if now > turn:  # its site has had more pages since it was queued
            heappush(queue, (now, named, rich, place, url))
        elif (new := (yield from fetcher.new_page(url))) is not None:
            found.append(new)
            turns[site_of(url)] += 1
            wait(new)
    return found
