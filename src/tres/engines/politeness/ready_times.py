"""The times at which sites (or other names) become ready.

Times wait in a heap whose stale entries are dropped when they surface, so that a query costs by the
names that wait now, not by all that were ever seen. An infinite time is one that only an event
ends: it is in no heap. Nothing here reads a clock: callers pass the time in.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf


class ReadyTimes:
    """The names that wait, by the time at which they become ready."""

    def __init__(self) -> None:
        self._ready: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def waiting(self, now: float) -> Iterator[str]:
        """Yield the names that are not ready."""
        self._wake(now)
        return iter(self._ready)

    def set(self, name: str, ready: float, now: float) -> None:
        """Set when a name becomes ready; a time in the past means now."""
        if ready <= now:
            self._ready.pop(name, None)
        elif self._ready.get(name) != ready:
            self._ready[name] = ready
            if ready < inf:
                heappush(self._heap, (ready, name))

    def first(self, now: float) -> tuple[float, str] | None:
        """Return the earliest time at which a name becomes ready by itself, and that name."""
        self._wake(now)
        while self._heap and self._is_stale(*self._heap[0]):
            heappop(self._heap)
        return self._heap[0] if self._heap else None

    def _wake(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            at, name = heappop(self._heap)
            if not self._is_stale(at, name):
                del self._ready[name]

    def _is_stale(self, at: float, name: str) -> bool:
        return self._ready.get(name) != at
