"""Limits on the links that wait in the frontier.

A site can make links faster than a crawl can follow them, and every known URL costs memory. So
there are three limits, each of them a setting of `[crawl]`:

    links_per_page      links of one page that count
    frontier_per_site   waiting links of one site
    frontier_size       waiting links in all

Where a limit leaves room for some of a page's links, the best enter and the others are dropped:
they get no id and cost nothing. The best are those whose anchor and URL the relevance model scores
highest; ties in the order of the page. Links that wait already are never pushed out, and links to
known URLs always count as citations, unless the frontier is full.

The limits depend only on the session's input, so a crawl that is replayed from its journal drops
the same links.
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
    """A limit and the site that has reached it; the limit on all links has no site."""

    limit: str
    site: str


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How many links may count: per page, per site and in all."""

    links_per_page: int = 2_500
    frontier_per_site: int = 50_000
    frontier_size: int = 1_000_000


class WaitingLinks:
    """Counts the waiting links by site, and decides which new ones may join them."""

    def __init__(self, limits: LinkLimits) -> None:
        self.dropped: Counter[str] = Counter()
        """Links that were dropped, by limit."""
        self._limits = limits
        self._counted = Column(np.bool_)  # by URL: does it wait?
        self._of_site = Column(np.int32)
        self._all = 0
        self._reported: set[Reached] = set()

    def __len__(self) -> int:
        return self._all

    def make_room(self, urls: int, sites: int) -> None:
        """Grow the columns to hold this many URLs and sites."""
        self._counted.resize(urls)
        self._of_site.resize(sites)

    def enter(self, urls: Ids, sites: Ids) -> None:
        """Add links; those that already wait are ignored."""
        new = ~self._counted.view[urls]
        self._counted.view[urls] = True
        np.add.at(self._of_site.view, sites[new], 1)
        self._all += int(new.sum())

    def leave(self, url: int, site: int) -> None:
        """Remove a link that is being fetched."""
        if self._counted.view[url] and self._of_site.view[site]:  # else the site is closed
            self._of_site.view[site] -= 1
            self._all -= 1
        self._counted.view[url] = False

    def close(self, site: int) -> None:
        """Remove all links to a site."""
        self._all -= int(self._of_site.view[site])
        self._of_site.view[site] = 0

    def wait_for(self, sites: list[int]) -> bool:
        """Whether a link to any of these sites waits."""
        return bool(self._of_site.view[sites].any())

    def admitted(
        self, home: str, links: LinkPercepts, crawl: CrawlState, rows: int
    ) -> tuple[Ids, list[Reached]]:
        """Return the places of the links that count, and the limits reached for the first time.

        The links are on a page of the site `home`. `rows` wait in the frontier, which may have
        several of them for one URL.
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
        """Whether all of so many links fit, whatever they are: a quick check."""
        limits = self._limits
        return (
            links <= limits.links_per_page
            and max(self._all, rows) + links <= limits.frontier_size
            and int(self._of_site.view.max(initial=0)) + links <= limits.frontier_per_site
        )

    def _objection(
        self, rank: int, url: str, site: str, entering: Counter[str], crawl: CrawlState, rows: int
    ) -> str:
        """Return the limit that the next best link of a page would pass; empty if none."""
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
        if reached in self._reported:
            return []
        self._reported.add(reached)
        return [reached]
