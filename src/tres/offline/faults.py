"""Faults of a served web: slow responses and failing pages, at random from a seed.

An archive always responds, and at once; the Web does neither. Which URLs fail depends only on the
seed and the URL, so every crawler meets the same faults, in any order of requests. A faulty page
fails once, or as long as the server runs. robots.txt never fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

MAX_REMEMBERED = 100_000
"""Pages whose one failure is remembered; older ones fail again."""


@dataclass(slots=True)
class Faults:
    """The range of seconds that a response takes, and the share of pages that fail."""

    delay: tuple[float, float] = (0.0, 0.0)
    errors: float = 0.0
    lasting: bool = False
    seed: int = 1
    _random: Random = field(init=False)
    _failed: dict[str, None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def next_delay(self) -> float:
        """Return the seconds that the next response takes."""
        return self._random.uniform(*self.delay) if self.delay[1] else 0.0

    def fails(self, url: str) -> bool:
        """Return whether a page fails this time."""
        if not self.errors or url in self._failed:
            return False
        drawn = blake2b(url.encode(), digest_size=8, key=str(self.seed).encode()).digest()
        if int.from_bytes(drawn) >= self.errors * 2**64:
            return False
        if not self.lasting:
            self._failed[url] = None
            if len(self._failed) > MAX_REMEMBERED:
                del self._failed[next(iter(self._failed))]
        return True
