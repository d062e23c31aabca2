"""Faults: answers that take their time and pages that fail, by a seeded generator.

An archive answers at once and always; the Web does neither. Which URLs fail depends on nothing
but seed and URL, so that every crawler meets the same ones in whatever order it asks. A page
that fails does so once, or for as long as the server runs. robots.txt never fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

MAX_REMEMBERED = 100_000
"""Of pages that fail once, so many are known to have done so; older ones fail again."""


@dataclass(slots=True)
class Faults:
    """Seconds that an answer takes, from and to, and the share of pages that fail."""

    delay: tuple[float, float] = (0.0, 0.0)
    errors: float = 0.0
    lasting: bool = False
    seed: int = 1
    _random: Random = field(init=False)
    _failed: dict[str, None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def seconds(self) -> float:
        """How long the next answer takes."""
        return self._random.uniform(*self.delay) if self.delay[1] else 0.0

    def fails(self, url: str) -> bool:
        """Does a page fail this time?"""
        if not self._is_drawn(url) or url in self._failed:
            return False
        if not self.lasting:
            self._failed[url] = None
            if len(self._failed) > MAX_REMEMBERED:
                del self._failed[next(iter(self._failed))]
        return True

    def _is_drawn(self, url: str) -> bool:
        if not self.errors:
            return False
        drawn = blake2b(url.encode(), digest_size=8, key=str(self.seed).encode()).digest()
        return int.from_bytes(drawn) < self.errors * 2**64
