"""Somebody at the controller who does as a test says."""

from __future__ import annotations

import time
from collections.abc import Callable


class Scripted:
    """At every look the script may change what it likes; it says whether it did."""

    def __init__(
        self,
        script: Callable[[Scripted], bool] = lambda controller: False,
        clock: Callable[[], float] = time.monotonic,
        every: float = 0.02,
    ) -> None:
        self.paused = False
        self.barred: set[str] = set()
        self.looks = 0
        self.rests = 0
        self._script = script
        self._clock = clock
        self._every = every
        self._next = clock()

    def carry_out_orders(self) -> bool:
        if self.next_orders_in() > 0:
            return False
        self._next = self._clock() + self._every
        self.looks += 1
        return self._script(self)

    def next_orders_in(self) -> float:
        return max(0.0, self._next - self._clock())

    def sleep(self) -> None:
        self.rests += 1
        time.sleep(self.next_orders_in())

    def is_blocked(self, site: str) -> bool:
        return site in self.barred
