"""How a crawl is steered while it runs (`tres steer`): what an engine asks between two steps.

Orders are carried out behind this protocol, because an engine knows neither inboxes nor journals.
The engine itself needs to know only whether it may ask for more, and which sites are blocked.
"""

from __future__ import annotations

from math import inf
from typing import Protocol


class Steering(Protocol):
    """What an engine asks between two steps."""

    @property
    def paused(self) -> bool:
        """May nothing new be fetched? Fetches in flight still finish."""

    def carry_out_orders(self) -> bool:
        """Carry out the orders that have come since the last call; return whether any had.

        Quick enough for every step: before `next_orders_in()` has passed it does nothing.
        """

    def next_orders_in(self) -> float:
        """Seconds until orders are looked for again."""

    def sleep(self) -> None:
        """Sleep until then: for an engine that has nothing else to do."""

    def is_blocked(self, site: str) -> bool:
        """Has the user blocked this site?"""


class Unsteered:
    """Steering for a crawl that nobody steers: no orders ever come."""

    paused = False

    def carry_out_orders(self) -> bool:
        return False

    def next_orders_in(self) -> float:
        return inf

    def sleep(self) -> None:
        pass

    def is_blocked(self, site: str) -> bool:
        return False


UNSTEERED = Unsteered()
