"""A limit on sites that hardly any other site links to: link spam, and big but obscure sites.

A site can make relevant pages, links among them and host names without end, at no cost. What it
cannot make is the links of others. So a domain (the registrable one, by the public suffix list)
may take a share of the budget, at least `LEAST` pages:

- A domain with a seed has no limit: somebody has chosen it.
- The hosts of a domain share one limit while most of them look made up, that is while no other
  domain links to most of those that gave pages. Else each host has a limit of its own:
  departments of a university are sites, a new host name for every page is not.
- A link counts as an *endorsement* of a host if it is on a fetched page of another domain that was
  not itself found through the one it links to: none of the domains on its way from the seeds is.

A domain that has used its share is *held*: its links wait while there is anything better to fetch.

- When nothing else is left they go on: a single link may lead to the only site there is.
- When the rest is poor, that is while less than a share `POOR` of the last `RECENT` pages of other
  sites was relevant, every second page may be of a held site: a single link may lead to the only
  good site there is.

This does not stop anybody who buys many domains that link to each other.
"""

from __future__ import annotations

from collections import deque
from math import inf

import numpy as np

from tres.mdp.columns import Column, Flags, Ids
from tres.mdp.names import Names
from tres.mdp.paths import NONE
from tres.web.url import domain_of

LEAST = 10
"""Pages that every domain may contribute, however small the budget."""
RECENT = 50
POOR = 0.15
FAR = 64
"""Domains on the way from the seeds that are checked; a domain further away endorses nobody."""


class Endorsements:
    """Which hosts other domains link to, and which sites have used their share of the pages."""

    def __init__(self, share: float) -> None:
        self._share = share  # 1: there is no limit, and nothing is counted
        self._names = Names()  # of domains
        self.reported: set[str] = set()
        """Domains, or hosts with a limit of their own, that have been held so far."""
        self._released = False
        self._recent: deque[bool] = deque(maxlen=RECENT)  # were pages of other sites relevant?
        self._turn = 0  # pages that may be taken from held sites now
        self._home = Column(np.int32, fill=NONE)  # the domain of a fetched page, by URL
        # By site: its domain, and whether another domain links to it.
        self._domain = Column(np.int32)
        self._endorsed = Column(np.bool_)
        self._of_sites = _Counts()
        self._of_domains = _Counts()
        # By domain: which one led to it first; the hosts that gave pages, and the endorsed of them.
        self._found_on = Column(np.int32, fill=NONE)
        self._hosts = Column(np.int32)
        self._endorsed_hosts = Column(np.int32)

    def make_room(self, urls: int, sites: Names) -> None:
        """Grow all columns to hold this many URLs, and these sites."""
        if self._share >= 1:
            return
        for site in range(len(self._domain), len(sites)):
            self._domain.append(self._names.id(domain_of(sites[site])))
        self._home.resize(urls)
        self._endorsed.resize(len(self._domain))
        self._of_sites.resize(len(self._domain))
        self._of_domains.resize(len(self._names))
        for column in (self._found_on, self._hosts, self._endorsed_hosts):
            column.resize(len(self._names))

    def seed(self, sites: Ids) -> None:
        """Lift the limit of sites with a seed, and of their domains."""
        if self._share >= 1:
            return
        self._of_domains.pages.view[self._domain.view[sites]] = -inf
        self._of_sites.pages.view[sites] = -inf
        self._endorsed.view[sites] = True

    def start_fetch(self, site: int, budget: int) -> None:
        """Count a page of a site as being fetched."""
        if self._share >= 1:
            return
        if self._turn and self._at_limit(budget)[site]:
            self._turn = 0
        self._add(site, 1)

    def end_fetch(self, site: int) -> None:
        """Count a fetch as finished, with or without a page."""
        if self._share >= 1:
            return
        self._add(site, -1)

    def _add(self, site: int, pages: int) -> None:
        self._of_sites.pages.view[site] += pages
        self._of_domains.pages.view[self._domain.view[site]] += pages

    def count(self, url: int, site: int, parent: int, relevant: bool, budget: int) -> None:
        """Count a page that was fetched from a site, through a link on the page `parent`."""
        if self._share >= 1:
            return
        domain = int(self._domain.view[site])
        if self._of_domains.fetched.view[domain] == 0 and parent != NONE:
            self._found_on.view[domain] = self._home.view[parent]
        if self._of_sites.fetched.view[site] == 0:
            self._hosts.view[domain] += 1
            self._endorsed_hosts.view[domain] += self._endorsed.view[site]
        self._of_sites.fetched.view[site] += 1
        self._of_domains.fetched.view[domain] += 1
        self._home.view[url] = domain
        if not self._at_limit(budget)[site]:
            self._recent.append(relevant)
            self._turn = int(len(self._recent) == RECENT and sum(self._recent) < POOR * RECENT)
            self._released = False  # something else has turned up
        self._add(site, 1)

    def cite(self, site: int, targets: Ids) -> None:
        """Let a page of a site endorse the hosts of other domains that it links to."""
        if self._share >= 1:
            return
        domain = int(self._domain.view[site])
        others = targets[~self._endorsed.view[targets] & (self._domain.view[targets] != domain)]
        for target in np.unique(others).tolist():
            cited = int(self._domain.view[target])
            if self._independent(domain, cited):
                self._endorsed.view[target] = True
                self._endorsed_hosts.view[cited] += self._of_sites.fetched.view[target] > 0

    def held(self, budget: int) -> Flags | None:
        """Return, by site, whether it is held: its share is used up. None if no site is held."""
        free = self._released or self._turn
        if free or not self._of_domains.at_limit(self._share * budget).any():
            return None
        return self._at_limit(budget)

    def _at_limit(self, budget: int) -> Flags:
        share = self._share * budget
        flags = self._of_domains.at_limit(share)[self._domain.view]
        sites = np.flatnonzero(flags)
        together = self._made_up(self._domain.view[sites])
        flags[sites] = together | self._of_sites.at_limit(share)[sites]
        return np.asarray(flags)

    def release(self) -> None:
        """Let held sites continue until something else turns up, as nothing else is left."""
        self._released = True

    def newly_held(self, budget: int, sites: Names) -> list[str]:
        """Return the domains, or hosts with a limit of their own, held for the first time."""
        held = self.held(budget)
        if held is None:
            return []
        domains = self._domain.view[held]
        together = self._made_up(domains)
        alone = np.flatnonzero(held)[~together]
        names = [self._names[domain] for domain in np.unique(domains[together]).tolist()]
        names += [sites[site] for site in alone.tolist()]
        first = sorted(set(names) - self.reported)
        self.reported.update(first)
        return first

    def _made_up(self, domains: Ids) -> Flags:
        """By domain: do its hosts share one limit, because most of them are not endorsed?"""
        return np.asarray(2 * self._endorsed_hosts.view[domains] < self._hosts.view[domains])

    def _independent(self, domain: int, cited: int) -> bool:
        """Whether a domain was found without the one that it links to."""
        if self._of_domains.fetched.view[cited] == 0:
            return True
        for _ in range(FAR):
            domain = int(self._found_on.view[domain])
            if domain in (NONE, cited):
                return domain == NONE
        return False


class _Counts:
    """Pages of sites, or of domains."""

    def __init__(self) -> None:
        self.pages = Column(np.float32)
        """Fetched or being fetched; minus infinity where there is no limit."""
        self.fetched = Column(np.int32)

    def resize(self, size: int) -> None:
        """Grow to ids below `size`."""
        self.pages.resize(size)
        self.fetched.resize(size)

    def at_limit(self, share: float) -> Flags:
        """Which of them have used their share."""
        return np.asarray(self.pages.view >= max(LEAST, share))
