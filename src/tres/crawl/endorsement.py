"""A limit for what only itself cites: link spam, and sites that are larger than their renown.

A site can make relevant pages, links among them and host names without end, and all at no cost.
What it cannot make is the links of others. So a domain (the registrable one, as the public suffix
list has it) may take a share of the budget that grows with the number of its *endorsers*:

    share * (1 + log2(endorsers) / SLOW)    of the pages, at least `LEAST`; `MOST` count

- An endorser is another domain of which a page was fetched that links to it, and that was not
  itself found through it: none of the domains on its way from the seeds is the one it endorses.
- A domain with a seed needs nobody's word: somebody has chosen it.
- The hosts of a domain count together as long as most of them look made up, that is as long as no
  endorser links to most of those that pages came from. Else each host counts by itself, with
  endorsers of its own: departments of a university are sites, a new name for every page is none.

What has had its share is *held*: its links wait while there is anything better to fetch.

- When nothing else is left they go on: a single link may lead to the only site there is.
- When what is left is poor, that is as long as less than a share `POOR` of the last `RECENT` pages
  of other sites was relevant, every second page may be one of those that are held: a single link
  may lead to the only good site there is.

Whoever buys many domains that link to each other is not stopped by this.
"""

from __future__ import annotations

from collections import deque
from math import inf, log2

import numpy as np

from tres.mdp.columns import Column, Flags, Ids
from tres.mdp.names import Names
from tres.mdp.paths import NONE
from tres.web.url import domain_of

LEAST = 10
"""Pages that anybody may give, however small the budget."""
MOST = 64
"""Endorsers that count."""
SLOW = 200
"""How often the endorsers double before the share does; so `MOST` of them make it 1.03 times.

Guest books are full of spam, so the word of many is worth little more than that of one.
"""
RECENT = 50
POOR = 0.15
FAR = 64
"""Domains on the way from the seeds that are looked at; who is further away endorses nobody."""


class Endorsements:
    """Who links to whom, by domain and by host, and who has had their share of the pages."""

    def __init__(self, share: float) -> None:
        self._share = share  # 1: there is no limit, and nobody is counted
        self._names = Names()
        self._pairs: set[int] = set()  # endorsers of sites and of domains that are counted
        self.reported: set[str] = set()
        """Domains, or hosts that count by themselves, that have been held so far."""
        self._released = False
        self._recent: deque[bool] = deque(maxlen=RECENT)  # were pages of others relevant?
        self._turn = 0  # pages that may be taken of who is held
        self._home = Column(np.int32, fill=NONE)  # the domain of a fetched page, by URL
        self._domain = Column(np.int32)  # by site
        self._of_sites = _Counts()
        self._of_domains = _Counts()
        # By domain: which one led to it first; the hosts that gave pages, and the endorsed of them.
        self._found_on = Column(np.int32, fill=NONE)
        self._hosts = Column(np.int32)
        self._endorsed_hosts = Column(np.int32)

    def make_room(self, urls: int, sites: Names) -> None:
        """Let there be so many URLs, and let every site have a domain."""
        if self._share >= 1:
            return
        for site in range(len(self._domain), len(sites)):
            self._domain.append(self._names.id(domain_of(sites[site])))
        self._home.resize(urls)
        self._of_sites.resize(len(self._domain))
        self._of_domains.resize(len(self._names))
        for column in (self._found_on, self._hosts, self._endorsed_hosts):
            column.resize(len(self._names))

    def seed(self, sites: Ids) -> None:
        """Somebody has chosen pages of these sites to start from."""
        if self._share >= 1:
            return
        self._of_domains.trust(self._domain.view[sites])
        self._of_sites.trust(sites)

    def start_fetch(self, site: int, budget: int) -> None:
        """A page of a site is asked for."""
        if self._share >= 1:
            return
        if self._turn and self._at_limit(budget)[site]:
            self._turn = 0
        self._add(site, 1)

    def end_fetch(self, site: int) -> None:
        """A request for a page of a site has come back, with a page or without."""
        if self._share >= 1:
            return
        self._add(site, -1)

    def _add(self, site: int, pages: int) -> None:
        self._of_sites.pages.view[site] += pages
        self._of_domains.pages.view[self._domain.view[site]] += pages

    def count(self, url: int, site: int, parent: int, relevant: bool, budget: int) -> None:
        """The page at a URL was fetched from a site, through a link on the page `parent`."""
        if self._share >= 1:
            return
        domain = int(self._domain.view[site])
        if self._of_domains.fetched.view[domain] == 0 and parent != NONE:
            self._found_on.view[domain] = self._home.view[parent]
        if self._of_sites.fetched.view[site] == 0:
            self._hosts.view[domain] += 1
            self._endorsed_hosts.view[domain] += self._of_sites.factor.view[site] > 0
        self._of_sites.fetched.view[site] += 1
        self._of_domains.fetched.view[domain] += 1
        self._home.view[url] = domain
        if not self._at_limit(budget)[site]:
            self._recent.append(relevant)
            self._turn = int(len(self._recent) == RECENT and sum(self._recent) < POOR * RECENT)
            self._released = False  # something else has turned up
        self._add(site, 1)

    def cite(self, site: int, targets: Ids) -> None:
        """A page of a site links to these sites."""
        if self._share >= 1:
            return
        domain = int(self._domain.view[site])
        others = targets[self._domain.view[targets] != domain]
        for target in np.unique(others).tolist():
            cited = int(self._domain.view[target])
            if self._of_sites.endorsers.view[target] >= MOST:
                continue  # more of them change nothing
            if (target << 32 | domain) not in self._pairs and self._independent(domain, cited):
                self._endorse(target, cited, domain)

    def held(self, budget: int) -> Flags | None:
        """By site: has it had its share of the budget? None if that concerns nobody now."""
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
        """Nothing else is left: whoever is held may go on, until something else turns up."""
        self._released = True

    def newly_held(self, budget: int, sites: Names) -> list[str]:
        """The domains, or hosts that count by themselves, that are held for the first time."""
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
        """Of each: do its hosts count together, because nobody endorses most of them?"""
        return np.asarray(2 * self._endorsed_hosts.view[domains] < self._hosts.view[domains])

    def _independent(self, domain: int, cited: int) -> bool:
        """Was a domain found without the one that it cites?"""
        if self._of_domains.fetched.view[cited] == 0:
            return True
        for _ in range(FAR):
            domain = int(self._found_on.view[domain])
            if domain in (NONE, cited):
                return domain == NONE
        return False

    def _endorse(self, site: int, domain: int, endorser: int) -> None:
        self._pairs.add(site << 32 | endorser)
        if self._of_sites.fetched.view[site] and self._of_sites.factor.view[site] == 0:
            self._endorsed_hosts.view[domain] += 1
        self._of_sites.endorse(site)
        of_domain = ~(domain << 32 | endorser)  # negative, so that no site has it
        if of_domain not in self._pairs:
            self._pairs.add(of_domain)
            self._of_domains.endorse(domain)


class _Counts:
    """Of sites or of domains: pages, and by how much the word of others raises their share."""

    def __init__(self) -> None:
        self.pages = Column(np.int32)
        """Fetched, or on their way."""
        self.fetched = Column(np.int32)
        self.endorsers = Column(np.int32)
        self.factor = Column(np.float32)

    def resize(self, size: int) -> None:
        """Let there be ids below `size`."""
        for column in (self.pages, self.fetched, self.endorsers, self.factor):
            column.resize(size)

    def endorse(self, identity: int) -> None:
        """One endorser more."""
        self.endorsers.view[identity] += 1
        factor = 1.0 + log2(min(MOST, int(self.endorsers.view[identity]))) / SLOW
        self.factor.view[identity] = max(float(self.factor.view[identity]), factor)

    def trust(self, identities: Ids) -> None:
        """These need nobody's word."""
        self.factor.view[identities] = inf

    def at_limit(self, share: float) -> Flags:
        """Who has had their share, of which those without an endorser have one as well."""
        flags = np.asarray(self.pages.view >= LEAST)
        many = np.flatnonzero(flags)  # of thousands these are few, and this is asked at every step
        flags[many] = self.pages.view[many] >= share * np.maximum(self.factor.view[many], 1.0)
        return flags
