"""Tree-Random: a random representative of a random leaf (section 3.2 of the paper).

The tree grows from experience as in TRES, but nothing is scored: what it gains over plain
random choice is the value of the tree's partition of the frontier alone. `Random` is the
same with a tree that never splits: one leaf, every row equally likely.
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
from tres.policies.policy import FrontierPolicy, Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.setup import PolicySetup


class TreeRandom(FrontierPolicy):
    """Always explores, never exploits."""

    info = PolicyInfo(
        summary="a leaf of the tree at random, then a link of it: the tree without the network"
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
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
        """Select uniformly among the representatives of the leaves (Algorithm 2, exploration)."""
        representatives = self.tree_frontier.sample(self.tree_frontier.occupied, 1, waiting)
        if len(representatives) == 0:
            return None
        row = int(self._rng.choice(representatives))
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
    """A random row of the frontier: one leaf, no learning."""

    info = PolicyInfo(summary="any link, with equal chances", reads_features=False)

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Learn nothing: the root stays the only leaf."""
        return None
