"""A curve stays small, and a browser that has a part of it gets only the rest."""

from __future__ import annotations

import pytest

from tres.dashboard.app import STATIC
from tres.dashboard.run_counts import POINTS, Curve, Point, bin_of
from tres.report.series import BINS, RECENT, RecentRate


def grown(steps: int) -> Curve:
    curve = Curve()
    for step in range(1, steps + 1):
        if curve.takes(step):
            curve.add(Point(step, 0.5, 0.5, 1, 2, 3, float(step)))
    return curve


@pytest.mark.parametrize("steps", [0, 1, POINTS, POINTS + 1, 20_000, 100_000])
def test_a_curve_has_no_more_points_than_can_be_shown(steps: int) -> None:
    curve = grown(steps)
    assert len(curve.points) <= POINTS
    assert [point.step for point in curve.points] == [
        step for step in range(1, steps + 1) if step % curve.stride == 0
    ]
    assert len(curve.points) >= min(steps, POINTS // 2)


def test_a_curve_returns_the_points_after_a_step() -> None:
    curve = grown(1_700)
    for known in (0, 1, 37, 1_600, 1_699, 1_700, 5_000):
        assert curve.after(known) == [point for point in curve.points if point.step > known]


def test_the_recent_share_forgets_old_pages() -> None:
    recent = RecentRate()
    assert recent.add(True) == 1.0
    for _ in range(RECENT - 1):
        share = recent.add(False)
    assert share == 1 / RECENT
    assert recent.add(False) == 0.0
    assert recent.add(True) == 1 / RECENT


def test_every_relevance_has_a_bin() -> None:
    assert [bin_of(x) for x in (0.0, 0.04, 0.05, 0.5, 0.99, 1.0)] == [0, 0, 1, 10, 19, BINS - 1]


def test_the_browser_names_the_window_of_the_recent_rate() -> None:
    script = (STATIC / "dom.js").read_text(encoding="utf-8")
    assert f"export const RECENT = {RECENT};" in script
