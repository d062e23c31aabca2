"""The interface of a policy: it chooses the next action, and learns from the reward.

Every crawler of the comparison is a policy of this kind, from random choice to TRES. They
share the rows (what is known of every action) and differ in how rows are ordered and
scored, so `FrontierPolicy` does the bookkeeping that keeps the frontier exact:

- when an action is chosen, every other row for its URL leaves with it;
- when a site reaches its cap, all its rows leave;
- when evidence changes, the rows concerned move to their new place.

Other packages ask a policy's `PolicyInfo` instead of its name: the settings resolve
`features = "auto"` by it, snapshots store its types, `tres explain` speaks its words, comparisons
keep policies apart that know the answers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.leaf_rules import TreeView
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.feature_schema import Schema
from tres.mdp.paths import NONE
from tres.mdp.transitions import Choice, Outlinks, Step

Need = Literal["web graph", "search engine"]
"""Knowledge that a crawl of the live Web cannot have."""

REFUSALS: dict[Need, str] = {
    "web graph": "needs to know every page beforehand",
    "search engine": "needs a search engine, which is simulated over an archive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInfo:
    """What a policy declares about itself, as its class attribute `info`."""

    summary: str = ""
    """How it chooses, in one line."""
    reads_features: bool = True
    """Whether it uses the features of links; if not, `features = "auto"` skips them."""
    q_values: bool = False
    """Whether its values are those of the agent: expected rewards, comparable between links."""
    score_meaning: str = ""
    """What its highest score means, for explain: "the relevance of its link text"."""
    obeys_focus: bool = False
    """Whether `focus = "hard"` makes it throw away the links of irrelevant pages."""
    needs: tuple[Need, ...] = ()
    """Knowledge without which it cannot crawl: it is refused on the live Web."""
    snapshot_types: tuple[type, ...] = ()
    """Immutable classes whose instances it keeps (named tuples, frozen dataclasses)."""


NEUTRAL = PolicyInfo()
"""For a policy that declares nothing, or whose package is not installed here."""


class Policy(Protocol):
    """Chooses links and learns from them. `len(policy)` is the number of rows that wait."""

    @property
    def schema(self) -> Schema:
        """The features of its choices."""

    @property
    def tree(self) -> Tree | None:
        """Its decision tree, if it has one."""
        return None

    def __len__(self) -> int: ...

    def tree_view(self) -> TreeView | None:
        """The tree with its rules in words, if it has one."""
        return None

    def seed(self, seeds: Outlinks) -> list[Choice]:
        """Return the seeds as choices: the crawl starts with them, whatever the policy."""

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """Take the next action out of the frontier; None if nothing can be chosen now.

        `waiting` marks, by site id, the sites that must not be fetched from at the moment.
        A call that returns None must not affect later choices: it is not recorded.
        """

    def learn(self, step: Step) -> NewSplit | None:
        """Learn from a choice that was fetched and judged; return the split if the tree grew."""

    def miss(self, choice: Choice) -> None:
        """Learn that a choice gave no page."""

    def forget_url(self, url: int) -> None:
        """Drop all actions that lead to a URL: a redirect has led there."""

    def forget_site(self, site: int) -> None:
        """Drop all actions that lead to a site: it has reached its cap."""


class Frontier(Protocol):
    """An order over the rows that wait."""

    def insert(self, rows: Ids) -> None: ...
    def update(self, rows: Ids) -> None: ...
    def remove(self, rows: Ids) -> None: ...


class UnorderedFrontier:
    """No order, for policies that look at all rows; the rows know which of them wait."""

    def insert(self, rows: Ids) -> None:
        """Do nothing."""

    update = remove = insert


class Selection(NamedTuple):
    """The row that a policy has selected, and why."""

    row: int
    q: float = float("nan")
    leaf: int = NONE
    explored: bool = False
    candidates: int = 0
    rivals: tuple[tuple[int, float], ...] = ()
    """The best of the other candidates: their URL ids and values."""


RIVALS = 3
"""Other candidates that a choice remembers."""


class FrontierPolicy(Policy):
    """A policy over rows in a frontier; subclasses select rows and learn.

    They have a class method `build`, which returns a fresh policy over an empty frontier.
    """

    info: ClassVar[PolicyInfo] = NEUTRAL

    def __init__(self, rows: Rows, frontier: Frontier) -> None:
        self.rows = rows
        self._frontier = frontier

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def schema(self) -> Schema:
        """The features of its choices."""
        return self.rows.schema

    @abstractmethod
    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the next row; it stays in the frontier for now."""

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Learn from a reward, before the step's outlinks enter the frontier."""

    def learn_outlinks(self, step: Step, change: Change) -> None:
        """Learn from the outlinks, after they entered the frontier."""

    def seed(self, seeds: Outlinks) -> list[Choice]:
        """Return the seeds as choices with zero state features; no action leads to them."""
        vectors = self.rows.seed_vectors(seeds)
        pairs = zip(seeds.urls.tolist(), seeds.sites.tolist(), vectors, strict=True)
        for url in seeds.urls.tolist():
            self.forget_url(url)
        return [Choice(url, site, NONE, vector) for url, site, vector in pairs]

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """Select a row; it leaves the frontier with every other row for its URL.

        If nothing can be chosen, nothing changes: not even a random number is drawn.
        """
        selected = self.select(waiting) if self.rows.any_available(waiting) else None
        if selected is None:
            return None
        row = np.array([selected.row], np.int32)
        choice = Choice(
            self.rows.url(selected.row),
            int(self.rows.site(row)[0]),
            self.rows.page(selected.row),
            self.rows.vectors(row)[0],
            *selected[1:],
        )
        self.forget_url(choice.url)
        return choice

    def learn(self, step: Step) -> NewSplit | None:
        """Learn the reward first, then add the new actions (the order of Algorithm 3)."""
        links = step.outlinks
        self._frontier.update(self.rows.follow(step.site, step.choice.url, links.relevance))
        grown = self.learn_reward(step)
        change = self.rows.add_links(step.outlinks)
        self._frontier.insert(change.new)
        self._frontier.update(change.updated)
        self.learn_outlinks(step, change)
        return grown

    def explore(self, waiting: Flags | None, rng: np.random.Generator) -> Selection:
        """Select a random row whose site is ready."""
        rows = self.rows.available(waiting)
        return Selection(int(rows[rng.integers(len(rows))]), explored=True)

    def best_of(self, rows: Ids, values: Floats, candidates: int) -> Selection:
        """Select the row of highest value; the best of the others are its rivals."""
        best = int(np.argmax(values))
        rivals = self._rivals(rows, values, best)
        row, q = int(rows[best]), float(values[best])
        return Selection(row, q, candidates=candidates, rivals=rivals)

    def _rivals(self, rows: Ids, values: Floats, best: int) -> tuple[tuple[int, float], ...]:
        """Return the best candidates other than the one at `best`, each URL once."""
        chosen = self.rows.url(int(rows[best]))
        seen: dict[int, float] = {}
        for place in _highest(values, 4 * (RIVALS + 1)):
            url = self.rows.url(int(rows[place]))
            if url != chosen and len(seen) < RIVALS:
                seen.setdefault(url, float(values[place]))
        return tuple(seen.items())

    def values_of(self, rows: Ids) -> Floats | None:
        """Return the values by which it compares rows now; None if it does not compare rows."""
        return None

    def miss(self, choice: Choice) -> None:
        """Learn nothing from a dead link, unless a subclass does."""

    def forget_url(self, url: int) -> None:
        """Drop every row for the URL."""
        self._forget(self.rows.of_url(url))

    def forget_site(self, site: int) -> None:
        """Drop every row of the site."""
        self._forget(self.rows.of_site(site))

    def _forget(self, rows: Ids) -> None:
        self._frontier.remove(rows)
        self.rows.retire(rows)


def _highest(values: Floats, count: int) -> list[int]:
    """Return the places of the highest values, highest first; ties in order of place."""
    places = np.arange(len(values))
    if len(values) > count:
        places = np.argpartition(-values, count)[:count]
    return [int(place) for place in places[np.argsort(-values[places], kind="stable")]]
