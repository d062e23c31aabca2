"""The frontier of ACHE: domains take turns.

Every domain has a queue of its own links, best first. The next link is the best one of the domain
that was used longest ago; a domain that was never used comes before all others, in order of
discovery. So the crawl goes round over the domains instead of following the best scores into one
of them: a baseline without this would find fewer sites than ACHE does.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np

from tres.frontier.queue import Priority
from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids

DomainOf = Callable[[int], str]
"""The domain of a site id; asked once per site."""

_Entry = tuple[float, int, int]


class TurnsFrontier:
    """Queues by domain, least recently used first."""

    def __init__(self, rows: Rows, priority: Priority, domain_of: DomainOf) -> None:
        self._rows = rows
        self._priority = priority
        self._domain_of = domain_of
        self._domains: dict[int, str] = {}
        self._queues: dict[str, list[_Entry]] = {}  # in the order of their last use
        self._ticket = Column(np.int64, fill=-1)
        self._current = Column(np.float32)
        self._tickets = 0

    def __len__(self) -> int:
        return int(np.count_nonzero(self._ticket.view != -1))

    def insert(self, rows: Ids) -> None:
        """New rows join the queue of their domain."""
        self._ticket.resize(self._rows.total)
        self._current.resize(self._rows.total)
        self._push(rows, self._priority(rows))

    def update(self, rows: Ids) -> None:
        """These rows may have another priority now; who keeps it keeps its place."""
        priorities = self._priority(rows)
        moved = priorities != self._current.view[rows]
        self._push(rows[moved], priorities[moved])

    def remove(self, rows: Ids) -> None:
        """These rows wait no longer; their entries are dropped when they surface."""
        self._ticket.view[rows] = -1

    def rescore(self) -> None:
        """Every priority may have changed: build all queues anew, in the order they have."""
        order = dict.fromkeys(self._queues)
        self._queues = {domain: [] for domain in order}
        waiting = self._rows.waiting
        self._push(waiting, self._priority(waiting))

    def best(self, waiting: Flags | None = None) -> tuple[int, float] | None:
        """The best row of the domain whose turn it is; it stays where it is."""
        spent = []
        found = None
        for domain, queue in self._queues.items():
            found = self._first(queue, waiting)
            if found is not None:
                break
            if not queue:
                spent.append(domain)
        for empty in spent:
            del self._queues[empty]
        return found

    def used(self, row: int) -> None:
        """The row was chosen: its domain goes to the end."""
        domain = self._domain(row)
        self._queues[domain] = self._queues.pop(domain, [])

    def _first(self, queue: list[_Entry], waiting: Flags | None) -> tuple[int, float] | None:
        """The best entry that counts and need not wait; those that must are kept."""
        held: list[_Entry] = []
        found = None
        while queue and found is None:
            priority, ticket, row = queue[0]
            if self._ticket.view[row] != ticket:
                heappop(queue)
            elif waiting is not None and waiting[self._site(row)]:
                held.append(heappop(queue))
            else:
                found = row, -priority
        for entry in held:
            heappush(queue, entry)
        return found

    def _push(self, rows: Ids, priorities: Floats) -> None:
        self._current.view[rows] = priorities
        for row, priority in zip(rows.tolist(), priorities.tolist(), strict=True):
            self._ticket.view[row] = self._tickets
            entry = (-priority, self._tickets, row)
            heappush(self._queues.setdefault(self._domain(row), []), entry)
            self._tickets += 1

    def _domain(self, row: int) -> str:
        site = self._site(row)
        if site not in self._domains:
            self._domains[site] = self._domain_of(site)
        return self._domains[site]

    def _site(self, row: int) -> int:
        return int(self._rows.site(np.array([row], np.int32))[0])
