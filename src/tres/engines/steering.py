"""How a crawl is steered while it is driven: the seam between an engine and whoever gives orders.

Whoever drives a crawl looks up between two steps. What was ordered is carried out then, behind
this seam, because an engine knows neither inboxes nor journals; the engine itself needs to know
only two things: whether it may ask for more, and which sites it must leave alone.
"""

from __future__ import annotations

from math import inf
from typing import Protocol


class Steering(Protocol):
    """What an engine looks at between two steps."""

    @property
    def paused(self) -> bool:
        """Is nothing new to be asked for? What is in flight may land."""

    def look(self) -> bool:
        """Carry out what was ordered since the last look; was there anything?

        Quick, and nothing at all before the next look is due: it may be called at every step.
        """

    def due_in(self) -> float:
        """Seconds until the next look."""

    def rest(self) -> None:
        """Let time pass until the next look: for an engine that has nothing else to do."""

    def bars(self, site: str) -> bool:
        """Must nothing be asked of this site any more?"""


class Unsteered:
    """Nobody gives orders."""

    paused = False

    def look(self) -> bool:
        """There are never any."""
        return False

    def due_in(self) -> float:
        """Never."""
        return inf

    def rest(self) -> None:
        """It never comes to that."""

    def bars(self, site: str) -> bool:
        """All sites are welcome."""
        return False


UNSTEERED = Unsteered()
