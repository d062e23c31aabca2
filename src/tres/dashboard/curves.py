"""Curves that stay small while they grow, and histories that forget.

A curve has a point for every `stride` steps. When it has more points than a screen can show,
every second one is left out and the stride doubles. So a crawl of any length is some hundred
points, and whoever holds a part of a curve with the same stride needs only what came after it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

POINTS = 500
"""Points of a curve at most."""
WINDOW = 100
"""Pages over which the recent harvest rate is taken."""
BINS = 20


class Point(NamedTuple):
    """A crawl after some step. JSON writes it as a list in this order."""

    step: int
    harvest: float
    recent: float
    """Harvest rate of the last `WINDOW` pages."""
    relevant_sites: int
    frontier: int
    leaves: int
    seconds: float
    """Of crawling until then."""


@dataclass(slots=True)
class Curve:
    """Points at the multiples of a stride."""

    stride: int = 1
    points: list[Point] = field(default_factory=list)

    def takes(self, step: int) -> bool:
        """Does a point of this step belong to the curve?"""
        return step % self.stride == 0

    def add(self, point: Point) -> None:
        """One more; the curve may become coarser by it."""
        self.points.append(point)
        if len(self.points) > POINTS:
            self.stride *= 2
            self.points = [kept for kept in self.points if self.takes(kept.step)]

    def after(self, step: int) -> list[Point]:
        """The points behind a step."""
        low, high = 0, len(self.points)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.points[middle].step <= step else (low, middle)
        return self.points[low:]

    def thinned(self, count: int) -> list[Point]:
        """Some of the points, evenly."""
        every = max(1, -(-len(self.points) // count))
        return self.points[every - 1 :: every]


@dataclass(slots=True)
class Recent:
    """The share of the relevant among the last pages."""

    pages: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    relevant: int = 0

    def add(self, relevant: bool) -> float:
        """One page more; the share after it."""
        if len(self.pages) == WINDOW:
            self.relevant -= self.pages[0]
        self.pages.append(relevant)
        self.relevant += relevant
        return self.relevant / len(self.pages)


def bin_of(relevance: float) -> int:
    """Where a relevance stands in the histogram."""
    return min(BINS - 1, max(0, int(relevance * BINS)))
