"""CrawlSession: the crawl as a Markov decision process, without any I/O (section 2.2).

The session says what to fetch, an engine fetches it:

    match session.next(k):
        case Fetch(urls): ...          # fetch them, in any order
        case Wait(): ...               # something is in flight, or every site must wait
        case Done(reason): ...
    events = session.receive(url, outcome)

It keeps the state g_t and decides what counts as a step. `tres.crawl.actions` decides which links
are actions, `tres.crawl.choosing` and the policy which of them comes next. It has no clock, opens
nothing and draws no random numbers, so the same session runs over an archive, on the live Web and
in a test with a dictionary of pages. With k = 1 it is the paper's algorithm; with more, rewards
come back late and out of order.

A *step* is one page retrieved and judged. Seeds are fetched first and are steps as well. A URL
whose fetch failed for a reason that may pass waits for another attempt (`tres.crawl.postponed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import isnan

import numpy as np

from tres.crawl.actions import Actions
from tres.crawl.choosing import Chooser
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
from tres.crawl.frontier_limits import LinkLimits
from tres.mdp.columns import Flags
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Choice, Step
from tres.policies.policy import Policy
from tres.settings.site_caps import SiteCap
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept


class CrawlSession:
    """One crawl: a budget, a cap, a policy, and the state g_t."""

    def __init__(
        self,
        crawl: CrawlState,
        policy: Policy,
        seeds: LinkPercepts,
        pages: int,
        cap: SiteCap | None = None,
        max_clicks: int | None = None,
        limits: LinkLimits | None = None,
        endorsements: Endorsements | None = None,
    ) -> None:
        self.policy = policy
        self.pages = pages
        self.steps = 0
        self.asked = 0
        """Requests so far, failed ones included."""
        self.relevant = 0
        self.failures: Counter[FailureKind] = Counter()
        self._crawl = crawl
        self._cap = cap or SiteCap.parse("inf")
        crawl.sites.limit = self._cap.at(0, pages)
        self._endorsements = endorsements or Endorsements(1.0)
        self._actions = Actions(
            crawl,
            self._endorsements,
            limits or LinkLimits(),
            max_clicks,
            policy.schema.reads_words,
        )
        self._in_flight: dict[str, Choice] = {}
        self._interrupted = False
        outlinks = self._actions.of_seeds(seeds)
        self._endorsements.seed(outlinks.sites)
        parts = crawl.sites, self._actions, self._endorsements
        self._chooser = Chooser(policy, policy.seed(outlinks), *parts)

    @property
    def crawl(self) -> CrawlState:
        """The state of the crawl, read-only."""
        return self._crawl

    @property
    def in_flight(self) -> int:
        """Fetches that have not returned yet."""
        return len(self._in_flight)

    @property
    def awaited(self) -> dict[str, str]:
        """The URLs in flight, oldest first, with their sites."""
        names = self._crawl.site_names
        return {url: names[choice.site] for url, choice in self._in_flight.items()}

    def clicks(self, url: str) -> int:
        """The number of links between a seed and a URL in flight; 0 for a seed."""
        choice = self._in_flight[url]
        return 0 if choice.is_seed else self._crawl.paths.depth(choice.page) + 1

    def site_ids(self, sites: Iterable[str]) -> list[int]:
        """The ids of these sites, in ascending order; unknown sites are left out."""
        names = self._crawl.site_names
        return sorted({names.id(site) for site in sites if site in names})

    def site_name(self, identity: int) -> str:
        """The name of a site; IndexError for an unknown id."""
        return self._crawl.site_names[identity]

    @property
    def interrupted(self) -> bool:
        """Whether `interrupt` was called: nothing more is chosen."""
        return self._interrupted

    @property
    def seeds_left(self) -> int:
        """Seeds that are still to be fetched."""
        return len(self._chooser.seeds)

    @property
    def dropped(self) -> Counter[str]:
        """Links that a limit kept out of the frontier, by limit."""
        return self._actions.waiting.dropped

    @property
    def postponed(self) -> int:
        """URLs that failed and are to be tried again."""
        return len(self._chooser.postponed)

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / self.steps if self.steps else 0.0

    @property
    def relevant_sites(self) -> int:
        """Sites with a relevant page: the paper's domains."""
        return self._crawl.sites.relevant_sites

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Choose up to `k` more URLs to fetch, avoiding the sites in `waiting`."""
        if self._interrupted:
            return Wait() if self._in_flight else Done(StopReason.INTERRUPTED)
        allowed = min(k, self.pages - self.steps - self.in_flight)
        busy = self.site_ids(waiting)
        chosen: list[str] = []
        while len(chosen) < allowed:
            choice = self._chooser.choose(busy, self.pages, self.in_flight)
            if choice is None:
                break
            self._depart(choice)
            chosen.append(self._crawl.urls[choice.url])
        if chosen:
            return Fetch(tuple(chosen))
        return self._nothing_chosen()

    def receive(self, url: str, outcome: Percept | Failed) -> list[Event]:
        """Take in the result of a URL that `next` returned; any other URL is a KeyError."""
        choice = self._in_flight.pop(url)
        self._crawl.sites.end_fetch(choice.site)
        self._endorsements.end_fetch(choice.site)
        result = self._settle(choice, outcome)
        if isinstance(result, Failed):
            return self._failed(choice, result)
        self._chooser.postponed.answered(choice)
        return self._step(choice, result)

    def _failed(self, choice: Choice, failed: Failed) -> list[Event]:
        """Postpone the URL, or count it as failed."""
        url = self._crawl.urls[choice.url]
        if self._may_pass(choice, failed) and self._chooser.postponed.take(choice):
            return [Postponed(url, failed.kind, choice.is_seed)]
        self._chooser.postponed.forget(choice.url)
        if failed.kind.is_answer:
            self._chooser.postponed.answered(choice)
        self.failures[failed.kind] += 1
        self.policy.miss(choice)
        return [FetchFailed(url, failed.kind, choice.is_seed)]

    def _may_pass(self, choice: Choice, failed: Failed) -> bool:
        """Whether the site failed and not the page, and the site is still open."""
        closed = self._actions.is_closed(choice.site)
        return failed.retryable and not failed.kind.is_answer and not closed

    def interrupt(self) -> None:
        """Choose nothing more; fetches in flight may still return."""
        self._interrupted = True

    def block(self, site: str) -> list[Event]:
        """Give up a site for good, known or not; blocking it again changes nothing.

        A page of the site that is in flight counts as a failure when it returns.
        """
        identity = self._actions.site_id(site)
        if identity in self._actions.blocked:
            return []
        self._actions.blocked.add(identity)
        self._close(identity)
        return [SiteBlocked(site)]

    def is_blocked(self, site: str) -> bool:
        """Whether a site was given up for good."""
        names = self._crawl.site_names
        return site in names and names.id(site) in self._actions.blocked

    def _settle(self, choice: Choice, outcome: Percept | Failed) -> Percept | Failed:
        """Decide whether a fetch is a step; nothing else does.

        A redirect may end on a page that was fetched already, or on another site that has
        reached its cap; neither is a step. Within its site a page keeps the place that was
        reserved for it when it was chosen, even if the cap has fallen since. A page of a
        blocked site is never a step.
        """
        if isinstance(outcome, Failed):
            return outcome
        final = self._crawl.urls.id(outcome.url)
        site = self._actions.site_id(outcome.site)
        if site in self._actions.blocked:
            return Failed(outcome.url, FailureKind.SITE_BLOCKED)
        if final != choice.url:
            if self._actions.is_claimed(final):
                return Failed(outcome.url, FailureKind.ALREADY_FETCHED)
            if site != choice.site and self._crawl.sites.saturated()[site]:
                return Failed(outcome.url, FailureKind.SITE_CAP)
            self._actions.claim(final, site)
            self.policy.forget_url(final)
        return outcome

    def _step(self, choice: Choice, percept: Percept) -> list[Event]:
        """Advance the state from g_t to g_t+1."""
        page = self._crawl.urls.id(percept.url)
        site = self._crawl.site_names.id(percept.site)
        reward = float(percept.relevant)
        self.steps += 1
        self.relevant += percept.relevant
        self._crawl.sites.count(site, percept.relevant)
        self._crawl.paths.extend(page, choice.page, reward, percept.relevant)
        self._endorsements.count(page, site, choice.page, percept.relevant, self.pages)
        events = self._enforce_cap(site)
        outlinks, reached = self._actions.of_page(page, percept, len(self.policy))
        events += [LinksLimited(*limit) for limit in reached]
        events += [
            SiteHeld(name)
            for name in self._endorsements.newly_held(self.pages, self._crawl.site_names)
        ]
        grown = self.policy.learn(Step(choice, site, reward, outlinks))
        if grown is not None:
            split = grown.split
            feature = self.policy.schema.features[split.feature]
            events.append(LeafSplit(grown.leaf, feature, split.threshold, split.reduction))
        return [self._stepped(choice, percept), *events]

    @property
    def held_sites(self) -> list[str]:
        """Domains and hosts that have used up their share of the budget."""
        return sorted(self._endorsements.reported)

    @property
    def held(self) -> Flags | None:
        """Whether each site, by id, is held because its share is used up; None if no site is."""
        return self._endorsements.held(self.pages)

    def _depart(self, choice: Choice) -> None:
        """Count a choice as in flight."""
        self._actions.make_room()  # a policy may know URLs that no page has linked to
        self.asked += 1
        self._in_flight[self._crawl.urls[choice.url]] = choice
        self._actions.claim(choice.url, choice.site)
        self._crawl.sites.start_fetch(choice.site)
        self._endorsements.start_fetch(choice.site, self.pages)

    def _nothing_chosen(self) -> Demand:
        if self._in_flight:
            return Wait()
        if self.steps >= self.pages:
            return Done(StopReason.BUDGET)
        if self.seeds_left or len(self.policy) or (self.postponed and self.steps):
            return Wait()
        return Done(StopReason.FRONTIER_EXHAUSTED if self.steps else StopReason.NO_SEED)

    def _enforce_cap(self, site: int) -> list[Event]:
        """Close the sites that have reached their cap; a falling cap may concern all of them."""
        sites, cap = self._crawl.sites, self._cap.at(self.steps, self.pages)
        if cap == float("inf"):
            return []
        fallen, sites.limit = cap != sites.limit, cap
        full = sites.at_limit()
        concerned = np.flatnonzero(full).tolist() if fallen else [site]
        reached = [s for s in concerned if full[s] and not self._actions.is_closed(s)]
        for each in reached:
            self._close(each)
        return [SiteCapped(self._crawl.site_names[each]) for each in reached]

    def _close(self, site: int) -> None:
        """Remove all that waits of a site; nothing of it enters any more."""
        self._actions.close(site)
        self._chooser.close(site)

    def _stepped(self, choice: Choice, percept: Percept) -> Stepped:
        return Stepped(
            step=self.steps,
            url=percept.url,
            parent=None if choice.is_seed else self._crawl.urls[choice.page],
            site=percept.site,
            relevance=percept.relevance,
            relevant=percept.relevant,
            q=None if isnan(choice.q) else choice.q,
            leaf=None if choice.leaf < 0 else choice.leaf,
            explored=choice.explored,
            features=self.policy.schema.named(choice.features),
            language=percept.language,
            asked=self._crawl.urls[choice.url],
            frontier=len(self.policy),
            leaves=self.policy.tree.leaves if self.policy.tree else 0,
            candidates=choice.candidates,
            rivals=tuple((self._crawl.urls[url], q) for url, q in choice.rivals),
        )
