"""How many pages a crawl may fetch from one site: MAX in the experiments of the paper.

A cap is written `inf` (no limit), a whole number, or `a..b`, a falling cap: it starts
at `a` and is halved when a third and when two thirds of the budget are spent, but never
falls below `b`. So a crawl spreads over many sites only after it has learnt something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

VALID = '"inf", a whole number of at least 1, or a falling cap such as "5..2"'


@dataclass(frozen=True, slots=True)
class SiteCap:
    """A cap on the pages of one site, perhaps falling from `start` to `floor`."""

    start: int | None = None
    floor: int | None = None

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a cap as people write it; `ValueError` says what is valid."""
        if isinstance(value, cls):
            return value
        if value in ("inf", math.inf):
            return cls()
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        numbers = _numbers(value) if isinstance(value, str) else []
        match numbers:
            case [cap] if cap >= 1:
                return cls(cap)
            case [start, floor] if start > floor >= 1:
                return cls(start, floor)
        raise ValueError(f"must be {VALID}")

    @property
    def unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.start is None

    def at(self, step: int, budget: int) -> float:
        """Return the cap after `step` of `budget` pages: `math.inf` or a whole number."""
        if self.start is None:
            return math.inf
        if self.floor is None:
            return self.start
        thirds = min(3 * step // budget, 2)
        return max(self.start >> thirds, self.floor)

    def __str__(self) -> str:
        if self.start is None:
            return "inf"
        return str(self.start) if self.floor is None else f"{self.start}..{self.floor}"


def _numbers(text: str) -> list[int]:
    """Return the one or two numbers of a written cap; none if it is not valid."""
    parts = text.strip().split("..")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return []
    return [int(part) for part in parts]
