"""The online decision tree behind the Tree-Frontier (section 2.6, Algorithm 3).

The tree grows by experience: a state-action vector and the reward it earned are sorted
into their leaf, and that leaf alone is tried for a split. So the tree grows by at most one
leaf a step (Theorem 2), and grows where the crawler goes. It grows best-first and is never
pruned: later splits make up for a poor early one.

Nodes are numbered in order of creation, 0 is the root. Both children of a leaf are the leaf
itself, so that sorting a matrix of vectors is the same few array operations at every depth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tres.frontier.best_split import NEGLIGIBLE, Split, best_split
from tres.mdp.columns import Column, Floats, Ids
from tres.mdp.paths import NONE

ROOT = 0
_LEFT, _RIGHT = 0, 1


class NewSplit(NamedTuple):
    """A leaf has become a node with two leaves."""

    leaf: int
    left: int
    right: int
    split: Split


class Tree:
    """Nodes, their rules, and the experience in their leaves."""

    def __init__(self, width: int, min_split: int = 5, max_depth: int = 18) -> None:
        self._min_split = min_split
        self._max_depth = max_depth
        self._height = 0
        self._feature = Column(np.int32, fill=0)
        self._threshold = Column(np.float64, fill=np.inf)
        self._children = Column(np.int32, width=2)
        self._parent = Column(np.int32, fill=NONE)
        self._depth = Column(np.int32)
        self._experiences = Column(np.int64)
        self._reward_sum = Column(np.float64)
        self._square_sum = Column(np.float64)
        self._vectors = Column(np.float32, width=width)
        self._rewards = Column(np.float32)
        self._members: list[list[int]] = []
        self._add_node(NONE, 0)

    @property
    def nodes(self) -> int:
        """The number of nodes, leaves included."""
        return len(self._feature)

    @property
    def leaves(self) -> int:
        """The number of leaves: one more than there are inner nodes."""
        return (self.nodes + 1) // 2

    def is_leaf(self, node: int) -> bool:
        """Whether a node is a leaf: its own child."""
        return int(self._children.view[node, _LEFT]) == node

    def rule(self, node: int) -> tuple[int, float]:
        """Return the feature and the threshold of an inner node."""
        return int(self._feature.view[node]), float(self._threshold.view[node])

    def children(self, node: int) -> tuple[int, int]:
        """Return the left and the right child of an inner node."""
        left, right = self._children.view[node].tolist()
        return left, right

    def parent(self, node: int) -> int:
        """Return the parent of a node, `NONE` for the root."""
        return int(self._parent.view[node])

    def depth(self, node: int) -> int:
        """Return the number of rules between the root and a node."""
        return int(self._depth.view[node])

    def experience_of(self, node: int) -> tuple[int, float]:
        """Return the number of experience samples in a node, and their mean reward."""
        count = int(self._experiences.view[node])
        return count, float(self._reward_sum.view[node]) / count if count else 0.0

    def sort(self, vectors: Floats) -> Ids:
        """Return the leaf of each vector."""
        return self.sort_from(ROOT, vectors, self._height)

    def sort_from(self, node: int, vectors: Floats, levels: int) -> Ids:
        """Return the node of each vector, `levels` rules below `node`."""
        at = np.full(len(vectors), node, np.int32)
        values, offset = vectors.ravel(), np.arange(len(vectors)) * vectors.shape[1]
        feature, threshold = self._feature.view, self._threshold.view
        children = self._children.view.ravel()
        for _ in range(levels):
            right = values.take(offset + feature.take(at)) >= threshold.take(at)
            at = children.take(2 * at + right)
        return at

    def leaf_of(self, vector: Floats) -> int:
        """Return the leaf of one vector."""
        node, values = ROOT, vector.tolist()
        while not self.is_leaf(node):
            feature, threshold = self.rule(node)
            node = self.children(node)[values[feature] >= threshold]
        return node

    def learn(self, vector: Floats, reward: float) -> NewSplit | None:
        """Add an experience sample; return the split if its leaf splits."""
        member = self._vectors.append(vector)
        self._rewards.append(reward)
        leaf = self.leaf_of(vector)
        self._members[leaf].append(member)
        node = leaf
        while node != NONE:
            self._count(node, 1, reward, reward * reward)
            node = self.parent(node)
        return self._try_split(leaf)

    def _try_split(self, leaf: int) -> NewSplit | None:
        members = self._members[leaf]
        if len(members) < self._min_split or self.depth(leaf) >= self._max_depth:
            return None
        if self._is_pure(leaf):
            return None
        index = np.array(members, np.int32)
        split = best_split(self._vectors.view[index], self._rewards.view[index])
        return None if split is None else self._split(leaf, index, split)

    def _is_pure(self, leaf: int) -> bool:
        count = self._experiences.view[leaf]
        mean = self._reward_sum.view[leaf] / count
        return bool(self._square_sum.view[leaf] / count - mean * mean <= NEGLIGIBLE)

    def _split(self, leaf: int, members: Ids, split: Split) -> NewSplit:
        depth = self.depth(leaf) + 1
        left, right = self._add_node(leaf, depth), self._add_node(leaf, depth)
        self._feature.view[leaf] = split.feature
        self._threshold.view[leaf] = split.threshold
        self._children.view[leaf] = left, right
        self._height = max(self._height, depth)
        # The threshold stays at 64 bits: rounded to 32 it could equal a neighbouring value.
        goes_right = self._vectors.view[members, split.feature] >= self._threshold.view[leaf]
        self._seat(left, members[~goes_right])
        self._seat(right, members[goes_right])
        self._members[leaf] = []
        return NewSplit(leaf, left, right, split)

    def _seat(self, leaf: int, members: Ids) -> None:
        rewards = self._rewards.view[members].astype(np.float64)
        self._members[leaf] = members.tolist()
        self._count(leaf, len(members), float(rewards.sum()), float((rewards**2).sum()))

    def _count(self, node: int, experiences: int, rewards: float, squares: float) -> None:
        self._experiences.view[node] += experiences
        self._reward_sum.view[node] += rewards
        self._square_sum.view[node] += squares

    def _add_node(self, parent: int, depth: int) -> int:
        node = self._feature.append(0)
        self._threshold.append(np.inf)
        self._children.append((node, node))
        self._parent.append(parent)
        self._depth.append(depth)
        for column in (self._experiences, self._reward_sum, self._square_sum):
            column.append(0)
        self._members.append([])
        return node
