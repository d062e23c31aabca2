"""Which links are actions: equation 1 of the paper, u not in C_t.

A link is an action while its URL has not been asked for, its site is open, its page is not too many
clicks from a seed, and the limits on links leave room for it. Names become ids here: what comes out
(`Outlinks`) is what policies learn from.
"""

from __future__ import annotations

import numpy as np

from tres.crawl.endorsement import Endorsements
from tres.crawl.frontier_limits import LinkLimits, Reached, WaitingLinks
from tres.mdp.columns import Column, Ids
from tres.mdp.paths import NONE
from tres.mdp.state import CrawlState
from tres.mdp.transitions import NO_PATH, Outlinks
from tres.web.link_wording import NO_WORDINGS, Wordings, encode_wordings
from tres.web.percept import NUMERIC, LinkPercepts, Percept


class Actions:
    """The closure C_t, the sites that are closed, and the links that wait."""

    def __init__(
        self,
        crawl: CrawlState,
        endorsements: Endorsements,
        limits: LinkLimits,
        max_clicks: int | None,
        reads_words: bool,
    ) -> None:
        self.waiting = WaitingLinks(limits)
        self._crawl = crawl
        self._endorsements = endorsements
        self._max_clicks = max_clicks or float("inf")
        self._reads_words = reads_words
        self._claimed = Column(np.bool_)  # by URL
        self._closed = Column(np.bool_)  # by site: at its cap, or blocked
        self.blocked: set[int] = set()
        """Sites of which the user wants no page."""

    def make_room(self) -> None:
        """Grow all columns to hold all known URLs and sites."""
        urls, sites = len(self._crawl.urls), len(self._crawl.site_names)
        self._claimed.resize(urls)
        self._closed.resize(sites)
        self._crawl.sites.make_room(sites)
        self.waiting.make_room(urls, sites)
        self._endorsements.make_room(urls, self._crawl.site_names)

    def site_id(self, site: str) -> int:
        """Return the id of a site, which may be new."""
        identity = self._crawl.site_names.id(site)
        self.make_room()
        return identity

    def claim(self, url: int, site: int) -> None:
        """Add a URL to the closure: it is being fetched or was, so no link to it waits."""
        self._claimed.view[url] = True
        self.waiting.leave(url, site)

    def is_claimed(self, url: int) -> bool:
        """Whether a URL is in the closure."""
        return bool(self._claimed.view[url])

    def close(self, site: int) -> None:
        """Drop the waiting links of a site; no link to it is an action from now on."""
        self._closed.view[site] = True
        self.waiting.close(site)

    def is_closed(self, site: int) -> bool:
        """Whether no link to a site is an action."""
        return bool(self._closed.view[site])

    def of_seeds(self, seeds: LinkPercepts) -> Outlinks:
        """Return the seeds as outlinks of no page, and claim them: no link leads to a seed."""
        every = np.arange(len(seeds), dtype=np.int32)
        outlinks = self._outlinks(seeds, every, NONE, None)
        self._claimed.view[outlinks.urls] = True
        return outlinks

    def of_page(self, page: int, percept: Percept, rows: int) -> tuple[Outlinks, list[Reached]]:
        """Return the actions on a fetched page, and the limits reached for the first time.

        `rows` is the number of rows in the policy's frontier.
        """
        counted, reached = self.waiting.admitted(percept.site, percept.links, self._crawl, rows)
        return self._outlinks(percept.links, counted, page, percept), reached

    def _outlinks(
        self, links: LinkPercepts, counted: Ids, page: int, percept: Percept | None
    ) -> Outlinks:
        """Return those of the links at `counted` that are actions now."""
        urls = np.array(self._crawl.urls.ids(_at(links.urls, counted)), np.int32)
        sites = np.array(self._crawl.site_names.ids(_at(links.sites, counted)), np.int32)
        self.make_room()
        claimed = self._claimed.view[urls]
        keep = ~(claimed | self._closed.view[sites])
        if percept is not None and self._crawl.paths.depth(page) >= self._max_clicks:
            keep[:] = False
        at = counted[keep]
        own_site = NONE if percept is None else self._crawl.site_names.id(percept.site)
        if percept is not None:
            self.waiting.enter(urls[keep], sites[keep])
            self._endorsements.cite(own_site, sites)
        return Outlinks(
            page=page,
            relevance=0.0 if percept is None else percept.relevance,
            relevant=percept is not None and percept.relevant,
            path=NO_PATH if percept is None else self._crawl.paths.features(page),
            urls=urls[keep],
            sites=sites[keep],
            same_site=(sites == own_site)[keep],
            anchors=_at(links.anchors, at),
            places=at,
            known=urls[claimed],
            known_places=counted[claimed],
            wordings=self._wordings(links, at, len(counted) == len(links)),
            **{name: getattr(links, name)[at] for name in NUMERIC},
        )

    def _wordings(self, links: LinkPercepts, places: Ids, all_count: bool) -> Wordings:
        """Return the words of the links at `places`; links that do not count are not read."""
        if not self._reads_words:
            return NO_WORDINGS
        if all_count:
            return links.wordings[places]
        return encode_wordings(_at(links.urls, places), _at(links.anchors, places))


def _at(texts: tuple[str, ...], places: Ids) -> tuple[str, ...]:
    """Return the texts at ascending places; nothing where no texts were kept."""
    if len(places) == len(texts) or not texts:
        return texts
    return tuple(texts[place] for place in places.tolist())
