"""Charts describe in words what they show, and escape every name."""

from __future__ import annotations

import re

import pytest

from tres.report.charts import HEIGHT, STRIP_HEIGHT, WIDTH, bars, lines, strip


def test_a_line_is_described_by_its_ends_and_its_range() -> None:
    chart = lines({"tres": [(1, 0.5), (2, 0.25), (3, 0.75)], "none": []}, "pages", "Harvest rate")
    assert (
        'aria-label="Harvest rate over pages. tres: 0.5 at first, 0.75 at last, '
        'between 0.25 and 0.75; none: no points"'
    ) in chart
    assert chart.count("<polyline") == 2
    assert "<figcaption>Harvest rate</figcaption>" in chart


def test_points_lie_inside_the_picture() -> None:
    chart = lines({"a": [(1, 3), (1234, 5678)]}, "pages", "links")
    for x, y in re.findall(r"([\d.]+),([\d.]+)", re.search(r'points="([^"]*)"', chart)[1]):
        assert 0 <= float(x) <= WIDTH
        assert 0 <= float(y) <= HEIGHT


def test_the_bars_that_reach_the_mark_have_another_colour() -> None:
    chart = bars([4, 0, 2, 6], 1.0, "relevance", "Pages", 0.5)
    assert re.findall(r'class="bar (\w+)"', chart) == ["rest", "rest", "s0", "s0"]
    heights = [float(height) for height in re.findall(r'height="([\d.]+)"', chart)]
    assert heights[0] / heights[3] == pytest.approx(4 / 6, abs=0.01)
    assert "0 and more: 4, 0.25 and more: 0, 0.5 and more: 2, 0.75 and more: 6" in chart


def test_a_strip_is_full_where_most_happened() -> None:
    heights = re.findall(r'height="([\d.]+)"/>', strip([0, 1, 2], "Requests"))
    assert [float(height) for height in heights] == [STRIP_HEIGHT / 2, STRIP_HEIGHT]
    assert strip([], "none") == strip([0], "none")


def test_names_are_escaped() -> None:
    assert "<b>" not in lines({"<b>": [(1, 1)]}, "<b>", "<b>")
    assert "<b>" not in strip([1], "<b>")
