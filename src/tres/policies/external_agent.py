"""A policy that leaves the choice to an agent outside, such as one of a Gymnasium environment.

It keeps the frontier as TRES does (the tree grows from every reward) and offers a fixed number of
actions, drawn leaf by leaf, so that the agent chooses among a few rows that represent all kinds of
links instead of among a frontier of any size.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.decision_tree import Tree
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Ids
from tres.policies.policy import Selection
from tres.policies.tree_random import TreeRandom


class ExternalAgent(TreeRandom):
    """Offers rows, and selects the one that the agent has chosen."""

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        super().__init__(rows, tree, rng)
        self._chosen: int | None = None

    def offer(self, count: int) -> Ids:
        """Draw `count` rows evenly from the leaves, some repeatedly if fewer wait.

        Empty if no row waits.
        """
        leaves = self.tree_frontier.occupied
        if len(leaves) == 0:
            return np.empty(0, np.int32)
        every = self._rng.permutation(np.resize(leaves, max(count, len(leaves))))[:count]
        return self.tree_frontier.sample(every, 1)

    def choose_next(self, row: int) -> None:
        """Make this row the next choice."""
        self._chosen = row

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the row that was chosen, or a random one if none was."""
        chosen, self._chosen = self._chosen, None
        if chosen is None:
            return super().select(waiting)
        return Selection(chosen, leaf=self.tree_frontier.leaf(chosen))
