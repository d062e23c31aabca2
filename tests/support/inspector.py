"""A session under inspection: every demand and answer is checked against plain bookkeeping.

The inspector plays the engine, and keeps beside it a crawl made of sets and dictionaries, with
the same rules: which URLs were asked for, what every site has given, which links wait. After
each move the session has to agree with it, down to the last row of the frontier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sized

import numpy as np
from tests.support.webs import PerceptWeb, Run, missing, site_of

from tres.crawl.events import Demand, Done, Fetch, FetchFailed, SiteBlocked, StopReason, Wait
from tres.crawl.session import CrawlSession
from tres.policies.policy import FrontierPolicy
from tres.settings.site_caps import SiteCap
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept


class Inspector:
    """Drives a session and contradicts it whenever it is wrong."""

    def __init__(
        self, session: CrawlSession, web: PerceptWeb, seeds: Iterable[str], cap: object
    ) -> None:
        assert isinstance(session.policy, FrontierPolicy)
        self.session = session
        self.policy = session.policy
        self.web = web
        self.cap = SiteCap.parse(cap)
        self.run = Run(StopReason.BUDGET)
        self.flying: list[str] = []
        self.seeds = list(seeds)
        self.claimed = set(self.seeds)
        self.given: Counter[str] = Counter()
        self.full: set[str] = set()
        self.blocked: set[str] = set()
        self.waits: list[tuple[str, str]] = []
        """Links (from page, to URL) that wait: the frontier as a plain list."""

    def drive(
        self,
        k: int,
        disorder: int,
        busy: Collection[str] = (),
        patience: float = 0.0,
        block: Collection[str] = (),
    ) -> Run:
        """Crawl to the end; with probability `patience` all `busy` sites must wait.

        The sites to `block` are blocked at random moments, one after the other.
        """
        rng = np.random.default_rng(disorder)
        unwanted = list(block)
        while True:
            if unwanted and rng.random() < 0.3:
                self.block(unwanted.pop())
            waiting = list(busy) if rng.random() < patience else []
            demand = self.ask(k - len(self.flying), waiting)
            if isinstance(demand, Done):
                self.run.reason = demand.reason
                return self.run
            if self.flying:
                self.answer(self.flying[int(rng.integers(len(self.flying)))])

    def ask(self, k: int, waiting: Collection[str] = ()) -> Demand:
        """Ask for URLs: as many as there may be, none twice, none that must wait."""
        possible = self._choosable(waiting)
        allowed = min(k, self.session.pages - self.session.steps - len(self.flying))
        demand = self.session.next(k, waiting)
        chosen = demand.urls if isinstance(demand, Fetch) else ()
        assert len(chosen) == max(0, min(allowed, possible))
        for url in chosen:
            self._depart(url, waiting)
        self._check_end(demand)
        self.check_frontier()
        return demand

    def block(self, site: str) -> None:
        """Want nothing more of a site."""
        told = [] if site in self.blocked else [SiteBlocked(site)]
        assert self.session.block(site) == told
        self.blocked.add(site)
        self.full.add(site)
        self.waits = [(page, url) for page, url in self.waits if site_of(url) != site]
        self.seeds = [url for url in self.seeds if site_of(url) != site]
        self.check_frontier()

    def answer(self, url: str) -> None:
        """Hand back what the web holds at a URL."""
        self.flying.remove(url)
        outcome = self._expected(url)
        events = self.session.receive(url, self.web.get(url, missing(url)))
        self.run.events += events
        if isinstance(outcome, Failed):
            assert [(e.url, e.kind) for e in events if isinstance(e, FetchFailed)] == [
                (url, outcome.kind)
            ]
        else:
            self._step(outcome)
        self.check_frontier()

    def check_frontier(self) -> None:
        """The frontier is the plain list; its length is told from its rows, not counted."""
        edges = self.waits
        urls = [url for _, url in edges]
        if self.policy.schema.row_per == "url":
            urls = sorted(set(urls))
        assert sorted(self._frontier_urls()) == sorted(urls)
        assert len(self.policy) == len(urls)
        if isinstance(self.policy._frontier, Sized):  # one without an order keeps no rows
            assert len(self.policy._frontier) == len(urls)
        assert self.session.steps == len(self.run.steps) == sum(self.given.values())
        assert self.session.in_flight == len(self.flying)

    def _frontier_urls(self) -> Iterator[str]:
        names = self.session._crawl.urls
        return (names[int(url)] for url in self.policy.rows.url_ids(self.policy.rows.waiting))

    def _choosable(self, waiting: Collection[str]) -> int:
        """How many URLs may be asked for at once: per site, what waits and what the cap leaves."""
        urls = {*self.seeds, *(url for _, url in self.waits)}
        per_site = Counter(site_of(url) for url in urls if site_of(url) not in waiting)
        return sum(int(min(count, self._room(site))) for site, count in per_site.items())

    def _room(self, site: str) -> float:
        cap = self.cap.at(self.session.steps, self.session.pages)
        flying = sum(site_of(url) == site for url in self.flying)
        return max(0, cap - self.given[site] - flying)

    def _depart(self, url: str, waiting: Collection[str]) -> None:
        assert url not in self.run.asked, "no URL is fetched twice"
        assert site_of(url) not in waiting, "a waiting site is never chosen from"
        assert self._room(site_of(url)) >= 1, "no site gives more than its cap"
        assert site_of(url) not in self.blocked, "a blocked site is never chosen from"
        assert url in self.seeds or any(url == to for _, to in self.waits), "all is reachable"
        self.run.asked.append(url)
        self.flying.append(url)
        self._forget(url)
        assert self.session.steps + len(self.flying) <= self.session.pages

    def _check_end(self, demand: Demand) -> None:
        if isinstance(demand, Wait):
            assert self.flying or self.waits or self.seeds
        if isinstance(demand, Done):
            assert not self.flying
            spent = self.session.steps >= self.session.pages
            assert (demand.reason is StopReason.BUDGET) == spent
            assert spent or not (self.waits or self.seeds)

    def _expected(self, url: str) -> Percept | Failed:
        outcome = self.web.get(url, missing(url))
        if isinstance(outcome, Percept) and outcome.site in self.blocked:
            return Failed(outcome.url, FailureKind.SITE_BLOCKED)
        if isinstance(outcome, Failed) or outcome.url == url:
            return outcome
        if outcome.url in self.claimed:
            return Failed(outcome.url, FailureKind.ALREADY_FETCHED)
        if outcome.site != site_of(url) and self._room(outcome.site) < 1:
            return Failed(outcome.url, FailureKind.SITE_CAP)
        self._forget(outcome.url)
        return outcome

    def _step(self, percept: Percept) -> None:
        self.given[percept.site] += 1
        cap = self.cap.at(self.session.steps, self.session.pages)
        self.full |= {site for site, count in self.given.items() if count >= cap}
        self.waits = [(page, url) for page, url in self.waits if site_of(url) not in self.full]
        self.seeds = [url for url in self.seeds if site_of(url) not in self.full]
        for url in percept.links.urls:
            if url not in self.claimed and site_of(url) not in self.full:
                self.waits.append((percept.url, url))

    def _forget(self, url: str) -> None:
        self.claimed.add(url)
        self.waits = [(page, to) for page, to in self.waits if to != url]
        self.seeds = [seed for seed in self.seeds if seed != url]
