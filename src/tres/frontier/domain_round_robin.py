"""The frontier of ACHE: domains in turn, round robin.

Every domain has a queue of its own links, best first. The next link is the best one of the domain
served least recently; a domain that was never served comes before all others, in order of
discovery. So the crawl goes round all domains instead of following the best scores into one
of them: without this, the baseline would find fewer sites than ACHE does.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from tres.frontier.queue_frontier import Entry, Priority, PriorityHeaps
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags

DomainOf = Callable[[int], str]
"""Returns the domain of a site id; called once per site."""


class DomainRoundRobin(PriorityHeaps):
    """Queues by domain, least recently served first."""

    def __init__(self, rows: Rows, priority: Priority, domain_of: DomainOf) -> None:
        super().__init__(rows, priority)
        self._domain_of = domain_of
        self._domains: dict[int, str] = {}
        self._queues: dict[str, list[Entry]] = {}  # least recently served first

    def rescore(self) -> None:
        """Rebuild all queues with new priorities; their order stays."""
        order = dict.fromkeys(self._queues)
        self._queues = {domain: [] for domain in order}
        waiting = self._rows.waiting
        self._push(waiting, self._priority(waiting))

    def best(self, waiting: Flags | None = None) -> tuple[int, float] | None:
        """Return the best row of the domain whose turn it is; it stays in its queue."""
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
        """Move the domain of a chosen row to the end."""
        domain = self._domain(row)
        self._queues[domain] = self._queues.pop(domain, [])

    def _first(self, queue: list[Entry], waiting: Flags | None) -> tuple[int, float] | None:
        """Return the best current entry whose site need not wait."""
        must_wait: list[Entry] = []
        found = None
        while queue and found is None:
            priority, ticket, row = queue[0]
            if self._ticket.view[row] != ticket:
                heappop(queue)
            elif waiting is not None and waiting[self._site(row)]:
                must_wait.append(heappop(queue))
            else:
                found = row, -priority
        for entry in must_wait:
            heappush(queue, entry)
        return found

    def _heap_of(self, row: int) -> list[Entry]:
        return self._queues.setdefault(self._domain(row), [])

    def _domain(self, row: int) -> str:
        site = self._site(row)
        if site not in self._domains:
            self._domains[site] = self._domain_of(site)
        return self._domains[site]
