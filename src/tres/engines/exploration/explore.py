"""A short exploratory crawl: pages to ask a teacher about, before a topic is crawled.

From the seeds alone it gathers two samples, both of pages that a crawler can really reach:

- *background* pages, by random walks: from the page just fetched it follows a random link, always
  to one of the sites with the fewest pages so far, so that a walk does not stay for ever on a
  site that links mostly to itself. After `WALK` pages, or where the page has no such link, the
  walk jumps to a random link known so far (again to one of the sites with the fewest pages).
  These pages stand for the web that a crawl from these seeds meets. They are not a uniform
  sample of the web, which nobody can draw.
- *near* pages, by following keywords: first links whose anchor contains one, and among them
  those on pages that contain more of them; sites take turns of `TURN` pages.

Two thirds of the budget go to the background, one third to the near pages. Dead links cost
nothing, as in a crawl. Labels are never read. One seed number gives one exploration.

The explorer fetches nothing itself: it is a generator that yields a URL, is sent the outcome of
its fetch, and returns the samples. `explore_offline` feeds it from an offline web, a live engine
through `tres.engines.exploration.exploration_session`.
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
class ExploredPages:
    """The pages of an exploration, by how they were found."""

    seeds: tuple[Page, ...]
    near: tuple[Page, ...]
    background: tuple[Page, ...]
    failed: tuple[Failed, ...] = ()
    """Seeds that gave no page."""

    @property
    def count(self) -> int:
        """How many pages there are: the price of the exploration."""
        return len(self.seeds) + len(self.near) + len(self.background)


Explorer = Generator[str, Outcome, ExploredPages]
"""An exploration under way: yields URLs, is sent outcomes, returns the pages."""


def explore_offline(explorer: Explorer, web: Web) -> ExploredPages:
    """Feed an explorer from an offline web until it is done."""
    try:
        url = next(explorer)
        while True:
            url = explorer.send(web.fetch(url))
    except StopIteration as end:
        pages: ExploredPages = end.value
        return pages


def explore(
    seeds: Iterable[str], keywords: frozenset[str], pages: int, rng: np.random.Generator
) -> Explorer:
    """Ask for at most `pages` pages, the seeds included; `keywords` are single words."""
    fetcher = _Fetcher()
    start: list[Page] = []
    for url in seeds:
        if len(start) < pages and (page := (yield from fetcher.new_page(url))) is not None:
            start.append(page)
    failed = tuple(fetcher.failed)
    rest = pages - len(start)
    background = yield from _walk_randomly(fetcher, start, rest - int(rest * NEAR), rng)
    sources = [*start, *background]
    near = yield from _follow_keywords(fetcher, sources, rest - len(background), keywords)
    return ExploredPages(tuple(start), tuple(near), tuple(background), failed)


@dataclass(slots=True)
class _Fetcher:
    """Remembers the URLs asked for, so that no page is paid for twice."""

    asked: set[str] = field(default_factory=set)
    failed: list[Failed] = field(default_factory=list)

    def new_page(self, url: str) -> Generator[str, Outcome, Page | None]:
        """Return the page at a URL; None if it was fetched before or there is none."""
        if url in self.asked:
            return None
        outcome = yield url
        known = {url, outcome.url}
        if isinstance(outcome, Failed):
            self.failed.append(outcome)
        page = outcome if isinstance(outcome, Page) and outcome.url not in self.asked else None
        self.asked |= known
        return page


class _WaitingLinks:
    """Links not fetched yet, by site, in the order in which they were found."""

    def __init__(self, fetcher: _Fetcher, start: Iterable[Page]) -> None:
        self._asked = fetcher.asked
        self._waiting: dict[str, dict[str, None]] = {}
        self.fetched: Counter[str] = Counter()
        for page in start:
            self.add(page)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, page: Page) -> None:
        """Count a page that was fetched, and add its links."""
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
        """Return a random link to a site with the fewest pages, and whether `page` has it."""
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


def _walk_randomly(
    fetcher: _Fetcher, start: list[Page], pages: int, rng: np.random.Generator
) -> Generator[str, Outcome, list[Page]]:
    waiting, walked = _WaitingLinks(fetcher, start), list[Page]()
    page: Page | None = None
    length = 0
    while len(walked) < pages and len(waiting):
        url, follows = waiting.choose(page if length < WALK else None, rng)
        waiting.remove(url)
        if (new := (yield from fetcher.new_page(url))) is not None:
            walked.append(new)
            waiting.add(new)
            page, length = new, length + 1 if follows else 1
    return walked


def _follow_keywords(
    fetcher: _Fetcher, start: list[Page], pages: int, keywords: frozenset[str]
) -> Generator[str, Outcome, list[Page]]:
    """Fetch by turns of the site, keyword in the anchor, keywords on the citing page."""
    queue: list[tuple[int, int, int, int, str]] = []
    turns: Counter[str] = Counter()
    followed: list[Page] = []

    def enqueue(page: Page) -> None:
        richness = len(keywords.intersection(words(page.content)))
        for link in page.links:
            if link.url not in fetcher.asked:
                named = not keywords.isdisjoint(words(link.anchor))
                turn = turns[site_of(link.url)] // TURN
                heappush(queue, (turn, -named, -richness, len(queue), link.url))

    for page in start:
        enqueue(page)
    while queue and len(followed) < pages:
        turn, named, rich, place, url = heappop(queue)
        now = turns[site_of(url)] // TURN
        if now > turn:  # its site has had more pages since it was queued
            heappush(queue, (now, named, rich, place, url))
        elif (new := (yield from fetcher.new_page(url))) is not None:
            followed.append(new)
            turns[site_of(url)] += 1
            enqueue(new)
    return followed
