"""A frontier without an order, for policies that look at all rows at every decision.

The rows themselves know which of them wait, so nothing is kept here.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Ids


class UnorderedFrontier:
    """Keeps nothing."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def insert(self, rows: Ids) -> None:
        """Do nothing."""

    def update(self, rows: Ids) -> None:
        """Do nothing."""

    def remove(self, rows: Ids) -> None:
        """Do nothing."""


def available_rows(rows: Rows, waiting: Flags | None) -> Ids:
    """Return all rows whose site need not wait, oldest first."""
    every = rows.waiting
    return every if waiting is None else every[~waiting[rows.site(every)]]


def random_row(rows: Ids, rng: np.random.Generator) -> int:
    """Draw one of the rows."""
    return int(rows[rng.integers(len(rows))])
