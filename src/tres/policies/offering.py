"""A policy that leaves the choice to somebody else.

It keeps the frontier as TRES does (the tree grows from every reward) and offers a fixed number of
actions, drawn leaf by leaf, so that an agent from outside chooses among a few rows that stand for
all kinds of links instead of among a frontier of any size.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.decision_tree import Tree
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Ids
from tres.policies.policy import Pick
from tres.policies.tree_random import TreeRandom


class Offering(TreeRandom):
    """Offers rows, and picks the one it was told to."""

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        super().__init__(rows, tree, rng)
        self._told: int | None = None

    def offer(self, count: int) -> Ids:
        """`count` rows, as evenly from the leaves as they come; repeated if there are fewer.

        Nothing if nothing waits.
        """
        leaves = self.tree_frontier.occupied
        if len(leaves) == 0:
            return np.empty(0, np.int32)
        every = self._rng.permutation(np.resize(leaves, max(count, len(leaves))))[:count]
        return self.tree_frontier.sample(every, 1)

    def take(self, row: int) -> None:
        """The next choice is this row."""
        self._told = row

    def pick(self, waiting: Flags | None) -> Pick | None:
        """What it was told; at random if nobody told it anything."""
        told, self._told = self._told, None
        if told is None:
            return super().pick(waiting)
        return Pick(told, leaf=self.tree_frontier.leaf(told))
