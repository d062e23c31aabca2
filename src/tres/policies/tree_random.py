"""Tree-Random: a random representative of a random leaf (section 3.2 of the paper).

The tree grows from experience as in TRES, but nothing is scored: what it gains over plain
random choice is the value of the tree's partition of the frontier alone. `Random` is the
same with a tree that never splits: one leaf, every row equally likely. `ExternalAgent` leaves the
choice to an agent outside, such as one of a Gymnasium environment: it offers a fixed number of
rows, drawn leaf by leaf, so that they represent all kinds of links in a frontier of any size.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.leaf_rules import TreeView
from tres.frontier.rows import Rows
from tres.frontier.tree_frontier import TreeFrontier
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, PolicyInfo, Selection
from tres.policies.setup import PolicySetup


class TreeRandom(FrontierPolicy):
    """Always explores, never exploits."""

    info = PolicyInfo(
        summary="a leaf of the tree at random, then a link of it: the tree without the network"
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        rows = setup.rows()
        return cls(rows, setup.tree(rows), setup.rng)

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        frontier_rng, self._rng = rng.spawn(2)
        self.tree_frontier = TreeFrontier(rows, tree, frontier_rng)
        super().__init__(rows, self.tree_frontier)

    @property
    def tree(self) -> Tree:
        """The tree of the frontier."""
        return self.tree_frontier.tree

    def tree_view(self) -> TreeView:
        """The tree with its rules in words and the rows that wait in its leaves."""
        return TreeView.of(self.tree, self.schema.features, self.tree_frontier.counts)

    def select(self, waiting: Flags | None) -> Selection | None:
        """Explore."""
        return self.explore(waiting, self._rng)

    def explore(self, waiting: Flags | None, rng: np.random.Generator) -> Selection:
        """Select uniformly among the representatives of the leaves (Algorithm 2, exploration)."""
        representatives = self.tree_frontier.sample(self.tree_frontier.occupied, 1, waiting)
        row = int(rng.choice(representatives))
        leaf = self.tree_frontier.leaf(row)
        return Selection(row, leaf=leaf, explored=True, candidates=len(representatives))

    def best_of(self, rows: Ids, values: Floats, candidates: int) -> Selection:
        """Select the row of highest value, with its leaf."""
        selected = super().best_of(rows, values, candidates)
        return selected._replace(leaf=self.tree_frontier.leaf(selected.row))

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Add the experience sample to its leaf, which may split."""
        return self.tree_frontier.learn(step.choice.features, step.experience)


class Random(TreeRandom):
    """Selects a random row of the frontier: one leaf, no learning."""

    info = PolicyInfo(summary="any link, with equal chances", reads_features=False)

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Learn nothing: the root stays the only leaf."""
        return None


class ExternalAgent(TreeRandom):
    """Offers rows, and selects the one that the agent has chosen."""

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        super().__init__(rows, tree, rng)
        self._chosen: int | None = None

    def offer(self, count: int) -> Ids:
        """Draw `count` rows evenly from the leaves, repeatedly if fewer wait; none if none wait."""
        leaves = self.tree_frontier.occupied
        if len(leaves) == 0:
            return np.empty(0, np.int32)
        every = self._rng.permutation(np.resize(leaves, max(count, len(leaves))))[:count]
        return self.tree_frontier.sample(every, 1)

    def choose_next(self, row: int) -> None:
        """Make this row the next choice."""
        self._chosen = row

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the row that the agent has chosen, or a random one."""
        chosen, self._chosen = self._chosen, None
        if chosen is None:
            return super().select(waiting)
        return Selection(chosen, leaf=self.tree_frontier.leaf(chosen))
