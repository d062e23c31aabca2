"""The frontier as a priority queue: best first, first come first served among ties.

The classical frontier of a focused crawler. A row's priority may change while it waits;
the heap then has an outdated entry, which is recognised by its ticket and dropped when
it surfaces (`PriorityHeaps`, for any number of heaps). Rows of a site that must wait are parked
beside the heap until the site is ready, so that a busy site does not slow every decision down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np

from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids

Priority = Callable[[Ids], Floats]
"""Returns the current priority of rows; higher is sooner."""

Entry = tuple[float, int, int]
"""An entry of a heap: the negative priority, a ticket and a row."""

_GONE = -1


class PriorityHeaps(ABC):
    """Rows in heaps by falling priority; only the last ticket of a row counts."""

    def __init__(self, rows: Rows, priority: Priority) -> None:
        self._rows = rows
        self._priority = priority
        self._ticket = Column(np.int64, fill=_GONE)
        self._current = Column(np.float32)
        self._tickets = 0

    def __len__(self) -> int:
        """Rows that wait."""
        return int(np.count_nonzero(self._ticket.view != _GONE))

    def insert(self, rows: Ids) -> None:
        """Add new rows."""
        self._ticket.resize(self._rows.total)
        self._current.resize(self._rows.total)
        self._push(rows, self._priority(rows))

    def update(self, rows: Ids) -> None:
        """Move the rows whose priority has changed."""
        priorities = self._priority(rows)
        moved = priorities != self._current.view[rows]
        self._push(rows[moved], priorities[moved])

    def remove(self, rows: Ids) -> None:
        """Remove rows."""
        self._ticket.view[rows] = _GONE

    def priorities(self, rows: Ids) -> Floats:
        """Return the priorities with which rows wait."""
        return self._current.view[rows]

    @abstractmethod
    def _heap_of(self, row: int) -> list[Entry]:
        """Return the heap of a row."""

    def _push(self, rows: Ids, priorities: Floats) -> None:
        self._current.view[rows] = priorities
        for row, priority in zip(rows.tolist(), priorities.tolist(), strict=True):
            self._ticket.view[row] = self._tickets
            heappush(self._heap_of(row), (-priority, self._tickets, row))
            self._tickets += 1

    def _site(self, row: int) -> int:
        return int(self._rows.site(np.array([row], np.int32))[0])


class QueueFrontier(PriorityHeaps):
    """One queue of all rows."""

    def __init__(self, rows: Rows, priority: Priority) -> None:
        super().__init__(rows, priority)
        self._heap: list[Entry] = []
        self._parked: dict[int, list[Entry]] = {}

    def best(self, waiting: Flags | None = None) -> tuple[int, float] | None:
        """Return the first row whose site is ready, and its priority; it stays queued."""
        self._unpark(waiting)
        while self._heap:
            priority, ticket, row = self._heap[0]
            if self._ticket.view[row] != ticket:
                heappop(self._heap)
            elif waiting is not None and waiting[site := self._site(row)]:
                self._parked.setdefault(site, []).append(heappop(self._heap))
            else:
                return row, -priority
        return None

    def _heap_of(self, row: int) -> list[Entry]:
        return self._heap

    def _unpark(self, waiting: Flags | None) -> None:
        ready = [site for site in self._parked if waiting is None or not waiting[site]]
        for site in ready:
            for entry in self._parked.pop(site):
                heappush(self._heap, entry)
