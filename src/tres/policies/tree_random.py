"""Tree-Random: a random representative of a random leaf (section 3.2 of the paper).

The tree grows from experience as in TRES, but nothing is scored: what it reaches beyond
plain random choice is what the tree's partition of the frontier alone is worth. `Random`
is the same with a tree that never splits: one leaf, every row equally likely.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.leaf_rules import TreeView
from tres.frontier.rows import Rows
from tres.frontier.tree_frontier import TreeFrontier
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, Pick


class TreeRandom(FrontierPolicy):
    """Explores always, exploits never."""

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        frontier_rng, self._rng = rng.spawn(2)
        self.tree_frontier = TreeFrontier(rows, tree, frontier_rng)
        super().__init__(rows, self.tree_frontier)

    @property
    def tree(self) -> Tree:
        """The tree behind the frontier."""
        return self.tree_frontier.tree

    def tree_view(self) -> TreeView:
        """The tree with the rows that wait in it."""
        return TreeView.of(self.tree, self.schema.features, self.tree_frontier.counts)

    def pick(self, waiting: Flags | None) -> Pick | None:
        """Uniform among the representatives of the leaves (Algorithm 2, exploration)."""
        representatives = self.tree_frontier.sample(self.tree_frontier.occupied, 1, waiting)
        if len(representatives) == 0:
            return None
        row = int(self._rng.choice(representatives))
        leaf = self.tree_frontier.leaf(row)
        return Pick(row, leaf=leaf, explored=True, candidates=len(representatives))

    def best_of(self, rows: Ids, values: Floats, candidates: int) -> Pick:
        """The row of highest value, with its leaf."""
        pick = super().best_of(rows, values, candidates)
        return pick._replace(leaf=self.tree_frontier.leaf(pick.row))

    def study(self, step: Step) -> NewSplit | None:
        """The experience sample may split its leaf."""
        return self.tree_frontier.learn(step.choice.features, step.experience)


class Random(TreeRandom):
    """A random row of the frontier: one leaf, no learning."""

    def study(self, step: Step) -> NewSplit | None:
        """Nothing is learnt, so the root stays the only leaf."""
        return None
