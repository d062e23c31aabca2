"""CrawlSession: the crawl as a Markov decision process, without any I/O (section 2.2).

The session asks, an engine fetches:

    match session.next(k):
        case Fetch(urls): ...          # fetch them, in any order
        case Wait(): ...               # something is in flight, or every site must wait
        case Done(reason): ...
    events = session.receive(url, outcome)

It keeps the closure, the web paths and the site counts, and leaves every choice to its
policy. It has no clock, opens nothing and draws no random number, so the same session runs
over an archive, on the live Web and in a test with a dictionary of pages. With k = 1 it is
the paper's algorithm; with more, rewards come back late and out of order.

A *step* is one page retrieved and judged. Seeds are fetched first and are steps as well. A URL
that failed in a way that may pass goes back to wait (`tres.crawl.postponed`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

import numpy as np

from tres.crawl.endorsement import Endorsements
from tres.crawl.events import (
    Demand,
    Done,
    Event,
    Fetch,
    FetchFailed,
    LeafSplit,
    LinksLimited,
    Postponed,
    SiteBlocked,
    SiteCapped,
    SiteHeld,
    Stepped,
    StopReason,
    Wait,
)
from tres.crawl.frontier_limits import LinkLimits, WaitingLinks
from tres.crawl.postponed import PostponedChoices
from tres.mdp.columns import Column, Flags, Ids
from tres.mdp.paths import NONE
from tres.mdp.state import Crawl
from tres.mdp.transitions import NO_PATH, Choice, Outlinks, Step
from tres.policies.policy import Policy
from tres.settings.site_caps import SiteCap
from tres.web.link_wording import UNTOLD, Wordings, wordings
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept


class CrawlSession:
    """One crawl: a budget, a cap, a policy, and the state g_t."""

    def __init__(
        self,
        crawl: Crawl,
        policy: Policy,
        seeds: LinkPercepts,
        pages: int,
        cap: SiteCap | None = None,
        max_clicks: int | None = None,
        limits: LinkLimits | None = None,
        endorsed: Endorsements | None = None,
    ) -> None:
        self.policy = policy
        self.pages = pages
        self.steps = 0
        self.asked = 0
        """Times that a URL was asked for, whatever came of it."""
        self.relevant = 0
        self.failures: Counter[FailureKind] = Counter()
        self._crawl = crawl
        self._cap = cap or SiteCap.parse("inf")
        crawl.sites.limit = self._cap.at(0, pages)
        self._max_clicks = max_clicks or float("inf")
        self._claimed = Column(np.bool_)
        self._closed = Column(np.bool_)
        """Sites that have reached their cap, and sites that are blocked: no action leads there."""
        self._blocked = Column(np.bool_)
        self._in_flight: dict[str, Choice] = {}
        self._postponed = PostponedChoices()
        self._interrupted = False
        self._links = WaitingLinks(limits or LinkLimits())
        self._endorsed = endorsed or Endorsements(1.0)
        outlinks = self._outlinks(seeds)
        self._claimed.view[outlinks.urls] = True  # g_0: no link leads to a seed
        self._endorsed.seed(outlinks.sites)
        self._seeds = deque(policy.seed(outlinks))

    @property
    def crawl(self) -> Crawl:
        """Names, counts and web paths, to look at."""
        return self._crawl

    @property
    def in_flight(self) -> int:
        """Fetches that have not come back yet."""
        return len(self._in_flight)

    @property
    def awaited(self) -> dict[str, str]:
        """The URLs that have not come back yet, oldest first, and their sites."""
        names = self._crawl.site_names
        return {url: names[choice.site] for url, choice in self._in_flight.items()}

    def clicks(self, url: str) -> int:
        """Links followed from a seed to a URL that has not come back yet; 0 for a seed."""
        choice = self._in_flight[url]
        return 0 if choice.is_seed else self._crawl.paths.depth(choice.page) + 1

    def site_ids(self, sites: Iterable[str]) -> list[int]:
        """The ids of those of these sites that the crawl has heard of, ascending."""
        names = self._crawl.site_names
        return sorted({names.id(site) for site in sites if site in names})

    def site_name(self, identity: int) -> str:
        """The site of an id; IndexError if there is none."""
        return self._crawl.site_names[identity]

    @property
    def interrupted(self) -> bool:
        """Was it told to choose nothing more?"""
        return self._interrupted

    @property
    def seeds_left(self) -> int:
        """Seeds that were not asked for yet."""
        return len(self._seeds)

    @property
    def dropped(self) -> Counter[str]:
        """Links that a limit has kept out of the frontier, by limit."""
        return self._links.dropped

    @property
    def postponed(self) -> int:
        """URLs that have failed and are to be asked for again."""
        return len(self._postponed)

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / self.steps if self.steps else 0.0

    @property
    def relevant_sites(self) -> int:
        """Sites with a relevant page: the paper's domains."""
        return self._crawl.sites.relevant_sites

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Up to `k` more URLs to fetch, none of a site named in `waiting`."""
        if self._interrupted:
            return self._stop(StopReason.INTERRUPTED)
        allowed = min(k, self.pages - self.steps - self.in_flight)
        told = self.site_ids(waiting)
        chosen: list[str] = []
        while len(chosen) < allowed and (choice := self._choose(told)) is not None:
            self._depart(choice)
            chosen.append(self._crawl.urls[choice.url])
        if chosen:
            return Fetch(tuple(chosen))
        return self._nothing_chosen()

    def receive(self, url: str, outcome: Percept | Failed) -> list[Event]:
        """What came of a URL that `next` had asked for; any other URL is a KeyError."""
        choice = self._in_flight.pop(url)
        self._crawl.sites.arrive(choice.site)
        self._endorsed.arrive(choice.site)
        result = self._settle(choice, outcome)
        if isinstance(result, Failed):
            return self._failed(choice, result)
        self._postponed.answered(choice)
        return self._step(choice, result)

    def _failed(self, choice: Choice, failed: Failed) -> list[Event]:
        """No page came: the URL is asked for again later, or never."""
        url = self._crawl.urls[choice.url]
        if self._may_pass(choice, failed) and self._postponed.take(choice):
            return [Postponed(url, failed.kind, choice.is_seed)]
        self._postponed.forget(choice.url)
        if failed.kind.is_answer:
            self._postponed.answered(choice)
        self.failures[failed.kind] += 1
        self.policy.miss(choice)
        return [FetchFailed(url, failed.kind, choice.is_seed)]

    def _may_pass(self, choice: Choice, failed: Failed) -> bool:
        """Was it the site that failed, and not the page, and may the site be asked again?"""
        closed = bool(self._closed.view[choice.site])
        return failed.retryable and not failed.kind.is_answer and not closed

    def interrupt(self) -> None:
        """Choose nothing more; what is in flight may still come back."""
        self._interrupted = True

    def block(self, site: str) -> list[Event]:
        """Want nothing more of a site, be it known or not; nothing if it is blocked already.

        What is in flight there may come back, and is a failure then.
        """
        identity = self._site_id(site)
        if self._blocked.view[identity]:
            return []
        self._blocked.view[identity] = True
        self._close(identity)
        return [SiteBlocked(site)]

    def is_blocked(self, site: str) -> bool:
        """Does the crawl want nothing more of a site?"""
        names = self._crawl.site_names
        return site in names and bool(self._blocked.view[names.id(site)])

    def _settle(self, choice: Choice, outcome: Percept | Failed) -> Percept | Failed:
        """The one place that decides whether a fetch is a step.

        A redirect may end on a page that was fetched already, or on another site that has
        given all it may; neither is a step. Within its site a page keeps the place that was
        reserved for it when it was chosen, even if the cap has fallen since. A page of a site
        that is blocked is no step, however it was come by.
        """
        if isinstance(outcome, Failed):
            return outcome
        final = self._crawl.urls.id(outcome.url)
        site = self._site_id(outcome.site)
        if self._blocked.view[site]:
            return Failed(outcome.url, FailureKind.SITE_BLOCKED)
        if final != choice.url:
            if self._claimed.view[final]:
                return Failed(outcome.url, FailureKind.ALREADY_FETCHED)
            if site != choice.site and self._crawl.sites.saturated()[site]:
                return Failed(outcome.url, FailureKind.SITE_CAP)
            self._claim(final, site)
            self.policy.forget_url(final)
        return outcome

    def _step(self, choice: Choice, percept: Percept) -> list[Event]:
        """g_t becomes g_t+1."""
        page = self._crawl.urls.id(percept.url)
        site = self._crawl.site_names.id(percept.site)
        reward = float(percept.relevant)
        self.steps += 1
        self.relevant += percept.relevant
        self._crawl.sites.count(site, percept.relevant)
        self._crawl.paths.extend(page, choice.page, reward, percept.relevant)
        self._endorsed.count(page, site, choice.page, percept.relevant, self.pages)
        events = self._enforce_cap(site)
        places, limited = self._links.admitted(
            percept.site, percept.links, self._crawl, len(self.policy)
        )
        events += [LinksLimited(*reached) for reached in limited]
        outlinks = self._outlinks(percept.links, page, percept, places)
        held = self._endorsed.news(self.pages, self._crawl.site_names)
        events += [SiteHeld(name) for name in held]
        grown = self.policy.learn(Step(choice, site, reward, outlinks))
        if grown is not None:
            feature = self.policy.schema.features[grown.split.feature]
            split = grown.split
            events.append(LeafSplit(grown.leaf, feature, split.threshold, split.reduction))
        return [self._stepped(choice, percept), *events]

    def _choose(self, told: list[int]) -> Choice | None:
        """The next choice, of none of the sites that the session was told to leave alone."""
        must_wait = self._must_wait(told)
        for _ in range(len(self._seeds)):
            if must_wait is None or not must_wait[self._seeds[0].site]:
                return self._seeds.popleft()
            self._seeds.rotate(-1)
        held = self.held
        if held is not None and must_wait is not None:
            held |= must_wait
        return (
            self._postponed.due(must_wait)
            or self.policy.choose(must_wait if held is None else held)
            or self._postponed.resting(must_wait)
            or (None if held is None else self._choose_held(must_wait, told))
        )

    def _choose_held(self, must_wait: Flags | None, told: list[int]) -> Choice | None:
        """A link of a site that is held, if nothing else is left but what its site keeps back."""
        silent = self._postponed.silent()
        if self._in_flight or self._links.wait_for([site for site in told if site not in silent]):
            return None
        choice = self.policy.choose(must_wait)
        if choice is not None:
            self._endorsed.release()
        return choice

    @property
    def held_sites(self) -> list[str]:
        """Domains and hosts that have had the share of the budget that their endorsers allow."""
        return sorted(self._endorsed.told)

    @property
    def held(self) -> Flags | None:
        """By site id: must its links wait because it has had its share? None: nobody's must."""
        return self._endorsed.held(self.pages)

    def _must_wait(self, told: list[int]) -> Flags | None:
        """Sites that must wait: told so, or full if all that is in flight succeeds."""
        if not told and (not self._in_flight or self._crawl.sites.limit == float("inf")):
            return None  # nothing waits, and sites at their cap have left the frontier
        must_wait = self._crawl.sites.saturated()
        must_wait[told] = True
        return must_wait

    def _depart(self, choice: Choice) -> None:
        self._make_room()  # a policy may know URLs that no page has linked to
        self.asked += 1
        self._in_flight[self._crawl.urls[choice.url]] = choice
        self._claim(choice.url, choice.site)
        self._crawl.sites.depart(choice.site)
        self._endorsed.depart(choice.site, self.pages)

    def _claim(self, url: int, site: int) -> None:
        """The URL is fetched from now on, or was: no link to it waits."""
        self._claimed.view[url] = True
        self._links.leave(url, site)

    def _nothing_chosen(self) -> Demand:
        if self._in_flight:
            return Wait()
        if self.steps >= self.pages:
            return Done(StopReason.BUDGET)
        if self._seeds or len(self.policy) or (self._postponed and self.steps):
            return Wait()
        return Done(StopReason.FRONTIER_EXHAUSTED if self.steps else StopReason.NO_SEED)

    def _stop(self, reason: StopReason) -> Demand:
        return Wait() if self._in_flight else Done(reason)

    def _enforce_cap(self, site: int) -> list[Event]:
        """Sites at their cap leave the frontier; a falling cap may concern all of them."""
        sites, cap = self._crawl.sites, self._cap.at(self.steps, self.pages)
        if cap == float("inf"):
            return []
        fallen, sites.limit = cap != sites.limit, cap
        full = sites.at_limit()
        concerned = np.flatnonzero(full).tolist() if fallen else [site]
        return [self._retire_site(s) for s in concerned if full[s] and not self._closed.view[s]]

    def _retire_site(self, site: int) -> Event:
        self._close(site)
        return SiteCapped(self._crawl.site_names[site])

    def _close(self, site: int) -> None:
        """All that waits of a site leaves, and nothing of it enters any more."""
        self._closed.view[site] = True
        self._links.close(site)
        self._seeds = deque(seed for seed in self._seeds if seed.site != site)
        self._postponed.forget_site(site)
        self.policy.forget_site(site)

    def _outlinks(
        self,
        links: LinkPercepts,
        page: int = NONE,
        percept: Percept | None = None,
        places: Ids | None = None,
    ) -> Outlinks:
        """Links in ids, reduced to those that are actions now (equation 1: u not in C_t).

        Only those at `places` count at all; the others may not enter.
        """
        counted = np.arange(len(links), dtype=np.int32) if places is None else places
        urls = np.array(self._crawl.urls.ids(_at(links.urls, counted)), np.int32)
        sites = np.array(self._crawl.site_names.ids(_at(links.sites, counted)), np.int32)
        self._make_room()
        claimed = self._claimed.view[urls]
        keep = ~(claimed | self._closed.view[sites])
        if page != NONE and self._crawl.paths.depth(page) >= self._max_clicks:
            keep[:] = False  # what lies deeper is no action
        at = counted[keep]
        own_site = NONE if percept is None else self._crawl.site_names.id(percept.site)
        if page != NONE:
            self._links.enter(urls[keep], sites[keep])
            self._endorsed.cite(own_site, sites)
        return Outlinks(
            page=page,
            relevance=0.0 if percept is None else percept.relevance,
            relevant=percept is not None and percept.relevant,
            path=NO_PATH if percept is None else self._crawl.paths.features(page),
            urls=urls[keep],
            sites=sites[keep],
            same_site=(sites == own_site)[keep],
            url_keyword=links.url_keyword[at],
            anchor_keyword=links.anchor_keyword[at],
            anchor_relevance=links.anchor_relevance[at],
            anchors=_at(links.anchors, at),
            places=at,
            known=urls[claimed],
            known_places=counted[claimed],
            wordings=self._wordings(links, at, len(counted) == len(links)),
        )

    def _wordings(self, links: LinkPercepts, places: Ids, all_count: bool) -> Wordings:
        """The words of links; those of links that do not count are not read."""
        if not self.policy.schema.reads_words:
            return UNTOLD
        if all_count:
            return links.wordings[places]
        return wordings(_at(links.urls, places), _at(links.anchors, places))

    def _site_id(self, site: str) -> int:
        identity = self._crawl.site_names.id(site)
        self._make_room()
        return identity

    def _make_room(self) -> None:
        self._claimed.resize(len(self._crawl.urls))
        self._closed.resize(len(self._crawl.site_names))
        self._blocked.resize(len(self._crawl.site_names))
        self._crawl.sites.make_room(len(self._crawl.site_names))
        self._links.make_room(len(self._crawl.urls), len(self._crawl.site_names))
        self._endorsed.know(len(self._crawl.urls), self._crawl.site_names)

    def _stepped(self, choice: Choice, percept: Percept) -> Stepped:
        return Stepped(
            step=self.steps,
            url=percept.url,
            parent=None if choice.is_seed else self._crawl.urls[choice.page],
            site=percept.site,
            relevance=percept.relevance,
            relevant=percept.relevant,
            q=choice.q,
            leaf=choice.leaf,
            explored=choice.explored,
            features=self.policy.schema.named(choice.features),
            language=percept.language,
            frontier=len(self.policy),
            leaves=self.policy.tree.leaves if self.policy.tree else 0,
            candidates=choice.candidates,
            rivals=tuple((self._crawl.urls[url], q) for url, q in choice.rivals),
        )


def _at(texts: tuple[str, ...], places: Ids) -> tuple[str, ...]:
    """Those at these places, which ascend; none where nobody kept texts."""
    if len(places) == len(texts) or not texts:
        return texts
    return tuple(texts[place] for place in places.tolist())
