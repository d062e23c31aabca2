"""The Tree-Frontier against a plain list with the same rules, under any sequence of events.

The machine plays a crawl directly on a policy: pages arrive with links, links are chosen,
earn rewards that split leaves, sites fill up. Beside it runs a model that is nothing but
Python lists and dictionaries.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tres.frontier.decision_tree import Tree
from tres.frontier.rows import LEVEL_STEP
from tres.mdp.paths import NONE, PathFeatures
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Choice, Outlinks, Step
from tres.policies.setup import make_rows
from tres.policies.tree_random import TreeRandom

SITES = 4
URLS = 40  # url u is on site u % SITES
SHARES = st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0])


class FrontierMachine(RuleBasedStateMachine):
    """One policy with a tree, one model: the list of (url, page) that wait."""

    @initialize(features=st.sampled_from(["paper", "no-site", "evidence"]))
    def begin(self, features: str) -> None:
        self.crawl = CrawlState()
        self.crawl.sites.make_room(SITES)
        rows = make_rows(features, self.crawl.sites)
        self.tree = Tree(rows.schema.width, min_split=2, max_depth=6)
        self.policy = TreeRandom(rows, self.tree, np.random.default_rng(7))
        self.edges = rows.schema.row_per == "edge"
        self.waiting: list[tuple[int, int]] = []
        self.taken: set[int] = set()
        self.full: set[int] = set()
        self.chosen: list[Choice] = []
        self.splits = 0
        self.experiences = 0
        self.pages = 0

    @rule(
        linked=st.lists(st.integers(0, URLS - 1), unique=True, max_size=12),
        relevant=st.booleans(),
        path=st.tuples(SHARES, SHARES, SHARES),
        anchor=SHARES,
        keyword=st.booleans(),
    )
    def page_arrives(
        self,
        linked: list[int],
        relevant: bool,
        path: tuple[float, float, float],
        anchor: float,
        keyword: bool,
    ) -> None:
        """A choice that was in flight comes back (or a seed does) with these links."""
        choice = self.chosen.pop() if self.chosen else Choice(URLS, 0, NONE, self._zero())
        self.pages += 1
        links = [u for u in linked if u not in self.taken and u % SITES not in self.full]
        self.crawl.sites.count(choice.site, relevant)
        reward = float(relevant)
        step = Step(choice, choice.site, reward, self._outlinks(links, path, anchor, keyword))
        self.experiences += 1
        self.splits += self.policy.learn(step) is not None
        for url in links:
            if self.edges or not any(waiting == url for waiting, _ in self.waiting):
                self.waiting.append((url, self.pages))

    @rule(blocked=st.sets(st.integers(0, SITES - 1)))
    def choose(self, blocked: set[int]) -> None:
        flags = np.array([site in blocked for site in range(SITES)]) if blocked else None
        ready = [url for url, _ in self.waiting if url % SITES not in blocked]
        choice = self.policy.choose(flags)
        if choice is None:
            assert not ready
            return
        assert choice.url in ready
        self.waiting = [(url, page) for url, page in self.waiting if url != choice.url]
        self.taken.add(choice.url)
        self.chosen.append(choice)

    @rule(site=st.integers(0, SITES - 1))
    def site_is_full(self, site: int) -> None:
        self.full.add(site)
        self.policy.forget_site(site)
        self.waiting = [(url, page) for url, page in self.waiting if url % SITES != site]

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def redirect_ends_there(self, data: st.DataObject) -> None:
        url = data.draw(st.sampled_from(sorted({url for url, _ in self.waiting})))
        self.taken.add(url)
        self.policy.forget_url(url)
        self.waiting = [(u, page) for u, page in self.waiting if u != url]

    @invariant()
    def the_frontier_is_the_list(self) -> None:
        if not hasattr(self, "policy"):
            return
        rows = self.policy.rows.waiting
        assert sorted(self.policy.rows.url_ids(rows).tolist()) == sorted(u for u, _ in self.waiting)
        assert len(self.policy) == len(self.policy.tree_frontier) == len(self.waiting)

    @invariant()
    def every_row_satisfies_the_rules_of_its_leaf(self) -> None:
        if not hasattr(self, "policy"):
            return
        rows = self.policy.rows.waiting
        for row, vector in zip(rows.tolist(), self.policy.rows.routed_vectors(rows), strict=True):
            node = 0
            while not self.tree.is_leaf(node):
                feature, threshold = self.tree.rule(node)
                left, right = self.tree.children(node)
                node = right if float(vector[feature]) >= threshold else left
            assert self.policy.tree_frontier.leaf(row) == node

    @invariant()
    def site_levels_stay_within_a_step_of_the_truth(self) -> None:
        if not hasattr(self, "policy"):
            return
        rows = self.policy.rows.waiting
        of_sites = slice(len(self.policy.schema.link_features), None)
        drift = self.policy.rows.vectors(rows) - self.policy.rows.routed_vectors(rows)
        assert np.abs(drift[:, of_sites]).max(initial=0.0) <= LEVEL_STEP + 1e-6

    @invariant()
    def the_tree_grows_by_at_most_one_leaf_per_experience(self) -> None:
        if not hasattr(self, "policy"):
            return
        assert self.tree.leaves == 1 + self.splits <= 1 + self.experiences
        occupied = self.policy.tree_frontier.occupied
        assert all(self.tree.is_leaf(int(node)) for node in occupied)
        assert self.tree.experience_of(0)[0] == self.experiences

    @invariant()
    def every_occupied_leaf_offers_one_of_its_own_rows(self) -> None:
        if not hasattr(self, "policy"):
            return
        frontier = self.policy.tree_frontier
        offered = frontier.sample(frontier.occupied, 1)
        assert [frontier.leaf(int(row)) for row in offered] == frontier.occupied.tolist()

    def _zero(self) -> np.ndarray:
        return np.zeros(self.policy.schema.width, np.float32)

    def _outlinks(
        self, urls: list[int], path: tuple[float, float, float], anchor: float, keyword: bool
    ) -> Outlinks:
        n = len(urls)
        return Outlinks(
            page=self.pages,
            relevance=path[0],
            relevant=path[0] >= 0.5,
            path=PathFeatures(*path),
            urls=np.array(urls, np.int32),
            sites=np.array(urls, np.int32) % SITES,
            same_site=np.zeros(n, np.bool_),
            url_keyword=np.full(n, keyword),
            anchor_keyword=np.zeros(n, np.bool_),
            anchor_relevance=np.linspace(0, anchor, n, dtype=np.float32),
            places=np.arange(n, dtype=np.int32),
        )


FrontierMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestTreeFrontier = FrontierMachine.TestCase
