"""The rules of robots.txt, kept for a day.

When there are too many, the least recently used go first. When they are too large, the largest go
first, so that no site can push out the rules of the others.
"""

from __future__ import annotations

from collections import OrderedDict

from tres.engines.politeness.clock import DAY
from tres.engines.politeness.robots_txt import RobotsRules

MAX_ENTRIES = 5_000
MAX_TEXT = 4_000_000
"""Characters of robots.txt whose rules are kept; the rules take about ten times more."""


class RobotsCache:
    """Rules by origin, bounded in number, size and age."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[RobotsRules, float]] = OrderedDict()
        self._text = 0

    def __len__(self) -> int:
        return len(self._known)

    def get(self, origin: str, now: float) -> RobotsRules | None:
        """Return the rules of an origin, or None if they are unknown or too old."""
        rules, until = self._known.get(origin, (None, now))
        if until <= now:
            return None
        self._known.move_to_end(origin)
        return rules

    def put(self, origin: str, rules: RobotsRules, now: float) -> None:
        """Keep rules for a day."""
        self._drop(origin)
        if len(self._known) >= MAX_ENTRIES:
            self._drop(next(iter(self._known)))
        while self._known and self._text + rules.size > MAX_TEXT:
            self._drop(max(self._known, key=self._size))
        self._known[origin] = rules, now + DAY
        self._text += rules.size

    def _size(self, origin: str) -> int:
        return self._known[origin][0].size

    def _drop(self, origin: str) -> None:
        if origin in self._known:
            self._text -= self._known.pop(origin)[0].size
