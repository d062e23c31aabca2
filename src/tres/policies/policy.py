"""What a policy is: it chooses the next action, and it learns from what came of it.

Every crawler of the comparison is a policy of this kind, from random choice to TRES. They
share the rows (what is known of every action) and differ in how rows are ordered and
scored, so `FrontierPolicy` does the book-keeping that keeps the frontier exact:

- when an action is chosen, every other row for its URL leaves with it;
- when a site has given all it may, all its rows leave;
- when evidence changes, the rows concerned find their new place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.leaf_rules import TreeView
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.paths import NONE
from tres.mdp.schema import Schema
from tres.mdp.transitions import Choice, Outlinks, Step


class Policy(Protocol):
    """Chooses and learns. `len(policy)` is the number of rows that wait."""

    @property
    def schema(self) -> Schema:
        """The feature schema of its choices."""

    @property
    def tree(self) -> Tree | None:
        """Its decision tree, if it has one."""

    def __len__(self) -> int: ...

    def tree_view(self) -> TreeView | None:
        """The tree for people, if there is one."""

    def seed(self, seeds: Outlinks) -> list[Choice]:
        """The crawl starts with these URLs; each is a choice made for the policy."""

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """Take the next action out of the frontier; None if nothing can be chosen now.

        `waiting` marks, by site id, the sites that must not be fetched from at the moment.
        A call that returns None must leave no trace in later choices: it is not recorded.
        """

    def learn(self, step: Step) -> NewSplit | None:
        """A choice has been fetched and judged; says whether the tree grew."""

    def miss(self, choice: Choice) -> None:
        """A choice gave no page."""

    def forget_url(self, url: int) -> None:
        """A URL was fetched in another way (a redirect): no action may lead to it."""

    def forget_site(self, site: int) -> None:
        """A site has reached its cap: no action may lead to it."""


class Frontier(Protocol):
    """An order over the rows that wait."""

    def insert(self, rows: Ids) -> None: ...
    def update(self, rows: Ids) -> None: ...
    def remove(self, rows: Ids) -> None: ...
    def __len__(self) -> int: ...


class Pick(NamedTuple):
    """A row and why it was picked."""

    row: int
    q: float = float("nan")
    leaf: int = NONE
    explored: bool = False
    candidates: int = 0
    rivals: tuple[tuple[int, float], ...] = ()
    """The best of the other candidates: their URL ids and values."""


RIVALS = 3
"""Other candidates that a choice remembers."""


class FrontierPolicy(ABC):
    """A policy over rows in a frontier; subclasses say how to pick and what to learn."""

    def __init__(self, rows: Rows, frontier: Frontier) -> None:
        self.rows = rows
        self._frontier = frontier

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def schema(self) -> Schema:
        """The feature schema of its choices."""
        return self.rows.schema

    @property
    def tree(self) -> Tree | None:
        """No tree unless a subclass has one."""
        return None

    def tree_view(self) -> TreeView | None:
        """No tree unless a subclass has one."""
        return None

    @abstractmethod
    def pick(self, waiting: Flags | None) -> Pick | None:
        """The next row, left where it is."""

    def study(self, step: Step) -> NewSplit | None:
        """Learn from a reward, before the step's outlinks enter the frontier."""

    def admit(self, step: Step, change: Change) -> None:
        """Learn from the outlinks, after they entered the frontier."""

    def seed(self, seeds: Outlinks) -> list[Choice]:
        """Seeds are choices with zero state features; like any choice, no action leads to them."""
        vectors = self.rows.seed_vectors(seeds)
        pairs = zip(seeds.urls.tolist(), seeds.sites.tolist(), vectors, strict=True)
        for url in seeds.urls.tolist():
            self.forget_url(url)
        return [Choice(url, site, NONE, vector) for url, site, vector in pairs]

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """Pick a row; it leaves the frontier with every other row for its URL.

        Where nothing can be chosen nothing happens: not even a random number is drawn.
        """
        pick = self.pick(waiting) if self.rows.offer(waiting) else None
        if pick is None:
            return None
        row = np.array([pick.row], np.int32)
        choice = Choice(
            url=self.rows.url(pick.row),
            site=int(self.rows.site(row)[0]),
            page=self.rows.page(pick.row),
            features=self.rows.vectors(row)[0],
            q=pick.q,
            leaf=pick.leaf,
            explored=pick.explored,
            candidates=pick.candidates,
            rivals=pick.rivals,
        )
        self.forget_url(choice.url)
        return choice

    def learn(self, step: Step) -> NewSplit | None:
        """Reward first, then the new actions (the order of Algorithm 3)."""
        links = step.outlinks
        self._frontier.update(self.rows.follow(step.site, step.choice.url, links.relevance))
        grown = self.study(step)
        change = self.rows.take_in(step.outlinks)
        self._frontier.insert(change.new)
        self._frontier.update(change.updated)
        self.admit(step, change)
        return grown

    def best_of(self, rows: Ids, values: Floats, candidates: int) -> Pick:
        """The row of highest value, of so many candidates, with the best of the others."""
        best = int(np.argmax(values))
        rivals = self._rivals(rows, values, best)
        return Pick(int(rows[best]), q=float(values[best]), candidates=candidates, rivals=rivals)

    def _rivals(self, rows: Ids, values: Floats, best: int) -> tuple[tuple[int, float], ...]:
        """The best candidates beside the one at `best`, each URL once."""
        chosen = self.rows.url(int(rows[best]))
        seen: dict[int, float] = {}
        for place in _highest(values, 4 * (RIVALS + 1)):
            url = self.rows.url(int(rows[place]))
            if url != chosen and len(seen) < RIVALS:
                seen.setdefault(url, float(values[place]))
        return tuple(seen.items())

    def worth(self, rows: Ids) -> Floats | None:
        """By what it would compare these rows now; None if it compares nothing."""
        return None

    def miss(self, choice: Choice) -> None:
        """Nothing is learnt from dead links, unless a subclass does."""

    def forget_url(self, url: int) -> None:
        """Every row for the URL leaves."""
        self._forget(self.rows.of_url(url))

    def forget_site(self, site: int) -> None:
        """Every row of the site leaves."""
        self._forget(self.rows.of_site(site))

    def _forget(self, rows: Ids) -> None:
        self._frontier.remove(rows)
        self.rows.retire(rows)


def _highest(values: Floats, count: int) -> list[int]:
    """Places of the highest values, in falling order; equal ones as they come."""
    places = np.arange(len(values))
    if len(values) > count:
        places = np.argpartition(-values, count)[:count]
    return [int(place) for place in places[np.argsort(-values[places], kind="stable")]]
