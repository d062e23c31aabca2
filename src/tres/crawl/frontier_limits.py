"""Bounds on the links that a crawl knows and has not asked for yet.

A site can make links faster than anybody can follow them, and every known URL costs memory. So
three limits hold, each of them a setting of `[crawl]`:

    links_per_page      of the links of one page, the best count
    frontier_per_site   links of one site that wait
    frontier_size       links that wait, in all

The best are those whose anchor and URL the relevance model likes most; equal ones count in the
order of the page. Where a limit leaves room for some of a page's links, the best of them enter and
the worst are dropped: they get no id and cost nothing. Links that wait already are never pushed
out, and links to URLs that are known always count as citations, unless the frontier is full.

It is part of the session, so it depends on nothing but what the session was given: a crawl that
is folded from its journal drops the same links.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tres.mdp.columns import Column, Ids
from tres.mdp.state import CrawlState
from tres.web.percept import LinkPercepts


class Reached(NamedTuple):
    """A limit, and the site that has reached it; no site for the limit on all links."""

    limit: str
    site: str


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How many links may count, of a page, of a site and in all."""

    links_per_page: int = 2_500
    frontier_per_site: int = 50_000
    frontier_size: int = 1_000_000


class WaitingLinks:
    """Counts the links that wait, by site, and says which new ones may join them."""

    def __init__(self, limits: LinkLimits) -> None:
        self.dropped: Counter[str] = Counter()
        """Links that were dropped, by the limit that did it."""
        self._limits = limits
        self._counted = Column(np.bool_)  # by URL: does it wait?
        self._of_site = Column(np.int32)
        self._all = 0
        self._told: set[Reached] = set()

    def __len__(self) -> int:
        return self._all

    def make_room(self, urls: int, sites: int) -> None:
        """Let there be URLs and sites with ids below these."""
        self._counted.resize(urls)
        self._of_site.resize(sites)

    def enter(self, urls: Ids, sites: Ids) -> None:
        """These links wait from now on; those that do already change nothing."""
        new = ~self._counted.view[urls]
        self._counted.view[urls] = True
        np.add.at(self._of_site.view, sites[new], 1)
        self._all += int(new.sum())

    def leave(self, url: int, site: int) -> None:
        """A link is asked for."""
        if self._counted.view[url] and self._of_site.view[site]:  # else the site is closed
            self._of_site.view[site] -= 1
            self._all -= 1
        self._counted.view[url] = False

    def close(self, site: int) -> None:
        """Nothing waits for a site any more, and nothing of it enters."""
        self._all -= int(self._of_site.view[site])
        self._of_site.view[site] = 0

    def wait_for(self, sites: list[int]) -> bool:
        """Does a link wait for any of these sites?"""
        return bool(self._of_site.view[sites].any())

    def admitted(
        self, home: str, links: LinkPercepts, crawl: CrawlState, rows: int
    ) -> tuple[Ids, list[Reached]]:
        """The places of the links that count, and the limits that are reached for the first time.

        They stand on a page of the site `home`. `rows` wait in the frontier, which may hold several
        of them for one URL.
        """
        if self._has_room(len(links), rows):
            return np.arange(len(links), dtype=np.int32), []
        entering: Counter[str] = Counter()
        taken: list[int] = []
        first: list[Reached] = []
        for rank, place in enumerate(np.argsort(-links.anchor_relevance, kind="stable").tolist()):
            url, site = links.urls[place], links.sites[place]
            limit = self._objection(rank, url, site, entering, crawl, rows + len(taken))
            if limit:
                first += self._drop(limit, home if limit == "links_per_page" else site)
            else:
                taken.append(place)
                entering[site] += url not in crawl.urls
        return np.array(sorted(taken), np.int32), first

    def _has_room(self, links: int, rows: int) -> bool:
        """Quickly seen: whatever these links are, all of them fit."""
        limits = self._limits
        return (
            links <= limits.links_per_page
            and max(self._all, rows) + links <= limits.frontier_size
            and int(self._of_site.view.max(initial=0)) + links <= limits.frontier_per_site
        )

    def _objection(
        self, rank: int, url: str, site: str, entering: Counter[str], crawl: CrawlState, rows: int
    ) -> str:
        """The limit that a link would pass, being the next best of its page; or nothing."""
        limits = self._limits
        if rank >= limits.links_per_page:
            return "links_per_page"
        if url in crawl.urls:
            claimed = not self._counted.view[crawl.urls.id(url)]
            return "" if claimed or rows < limits.frontier_size else "frontier_size"
        if max(self._all + entering.total(), rows) >= limits.frontier_size:
            return "frontier_size"
        known = (
            int(self._of_site.view[crawl.site_names.id(site)]) if site in crawl.site_names else 0
        )
        return "frontier_per_site" if known + entering[site] >= limits.frontier_per_site else ""

    def _drop(self, limit: str, site: str) -> list[Reached]:
        self.dropped[limit] += 1
        reached = Reached(limit, "" if limit == "frontier_size" else site)
        if reached in self._told:
            return []
        self._told.add(reached)
        return [reached]
