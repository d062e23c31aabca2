"""The Tree-Frontier: the frontier as a decision tree (section 2.6, Algorithms 2 and 3).

Experience samples make the rules, frontier rows follow them. Every waiting row is in the leaf
whose rules its routed vector satisfies (see `tres.frontier.rows`), and sampling draws
representatives from the leaves, so that a decision scores a few rows per leaf instead of all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tres.frontier.buckets import Buckets
from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.paths import NONE

RETRIES = 4
"""Draws that may hit a waiting site before a leaf is searched for available rows."""


class TreeFrontier:
    """Frontier rows in the leaves of a growing tree."""

    def __init__(self, rows: Rows, tree: Tree, rng: np.random.Generator) -> None:
        self.tree = tree
        self._rows = rows
        self._rng = rng
        self._leaves = Buckets()

    def __len__(self) -> int:
        """Rows in the leaves."""
        return len(self._leaves)

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the leaves."""
        return self._leaves.nbytes

    @property
    def occupied(self) -> NDArray[np.intp]:
        """Leaves with at least one row."""
        return np.flatnonzero(self._leaves.counts)

    @property
    def counts(self) -> Ids:
        """Waiting rows per node; inner nodes have none."""
        return self._leaves.counts

    def leaf(self, row: int) -> int:
        """Return the leaf of a row, `NONE` if it does not wait."""
        return int(self._leaves.of(np.array([row]))[0])

    def leaves_of(self, rows: Ids) -> NDArray[np.intp]:
        """Return the leaves of waiting rows."""
        return self._leaves.of(rows).astype(np.intp)

    def insert(self, rows: Ids) -> None:
        """Put new rows into the leaves whose rules they satisfy."""
        self._leaves.make_room(self._rows.total, self.tree.nodes)
        if len(rows):
            self._leaves.insert(rows, self.tree.sort(self._rows.routed_vectors(rows)))

    def update(self, rows: Ids) -> None:
        """Sort rows again whose vectors have changed, from the root."""
        if len(rows) == 0:
            return
        leaves = self.tree.sort(self._rows.routed_vectors(rows))
        moved = leaves != self._leaves.of(rows)
        self._leaves.remove(rows[moved])
        self._leaves.insert(rows[moved], leaves[moved])

    def remove(self, rows: Ids) -> None:
        """Remove rows."""
        self._leaves.remove(rows)

    def learn(self, vector: Floats, reward: float) -> NewSplit | None:
        """Add an experience sample; if its leaf splits, its rows follow the new rule."""
        grown = self.tree.learn(vector, reward)
        if grown is not None:
            self._leaves.make_room(self._rows.total, self.tree.nodes)
            rows = self._leaves.clear(grown.leaf)
            vectors = self._rows.routed_vectors(rows)
            self._leaves.insert(rows, self.tree.sort_from(grown.leaf, vectors, 1))
        return grown

    def sample(self, leaves: NDArray[np.intp], each: int, waiting: Flags | None = None) -> Ids:
        """Draw `each` rows from every given leaf, all from sites that are ready.

        A leaf in which every site must wait gives none.
        """
        rows = self._leaves.sample(leaves, each, self._rng)
        if waiting is None:
            return rows.ravel()
        for _ in range(RETRIES):
            stuck = np.asarray(waiting[self._rows.site(rows)].any(axis=1))
            if not stuck.any():
                return rows.ravel()
            self._redraw(rows, leaves, stuck, waiting)
        return self._search(rows, leaves, waiting)

    def _redraw(
        self, rows: NDArray[np.int32], leaves: NDArray[np.intp], stuck: Flags, waiting: Flags
    ) -> None:
        again = self._leaves.sample(leaves[stuck], rows.shape[1], self._rng)
        keep = ~waiting[self._rows.site(rows[stuck])]
        rows[stuck] = np.where(keep, rows[stuck], again)

    def _search(self, rows: NDArray[np.int32], leaves: NDArray[np.intp], waiting: Flags) -> Ids:
        """Replace the rows of waiting sites by draws among exactly the available rows."""
        blocked = waiting[self._rows.site(rows)]
        for i in np.flatnonzero(blocked.any(axis=1)):
            every = self._leaves.rows(int(leaves[i]))
            ready = every[~waiting[self._rows.site(every)]]
            rows[i, blocked[i]] = self._rng.choice(ready, blocked[i].sum()) if len(ready) else NONE
        return np.asarray(rows[rows != NONE])
