"""What a server's clock can tell of how politely it was asked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

TIMER = 0.05
"""Seconds by which most gaps may seem shorter: the precision of timers on a busy machine."""


def assert_spaced(times: Iterable[float], delay: float) -> None:
    """Between requests at these times lay the delay.

    A server that is short of processor time notes a request late, and the gap behind it seems
    too short. So one gap may be half the delay, but half of them must be whole: of one or two
    nobody knows which is the typical one.
    """
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    assert gaps, "one request has no gap"
    assert gaps[0] > delay / 2, gaps
    if len(gaps) > 2:
        assert gaps[len(gaps) // 2] > delay - TIMER, gaps
