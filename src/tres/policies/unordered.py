"""A frontier without an order: the rows themselves know which of them wait.

For policies that look at all rows at every decision, and so need no structure to find them.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Ids


class UnorderedFrontier:
    """Takes rows and keeps nothing."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def insert(self, rows: Ids) -> None:
        """Nothing to be done."""

    def update(self, rows: Ids) -> None:
        """Nothing to be done."""

    def remove(self, rows: Ids) -> None:
        """Nothing to be done."""


def ready(rows: Rows, waiting: Flags | None) -> Ids:
    """All rows whose site need not wait, oldest first."""
    every = rows.waiting
    return every if waiting is None else every[~waiting[rows.site(every)]]


def drawn(rows: Ids, rng: np.random.Generator) -> int:
    """One of them, at random."""
    return int(rows[rng.integers(len(rows))])
