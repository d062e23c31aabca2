"""The numbers of a report are those of the journal, counted in another way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.runs import row

from tres.report import series
from tres.report.run_reader import RunReader
from tres.report.series import SiteRequests, busiest_sites, time_span

PAGES = [
    row(step=1, site="a", relevant=True, relevance=0.9),
    row(step=2, site="b", relevant=False, relevance=0.1),
    row(step=3, site="b", relevant=True, relevance=0.6),
    row(step=4, site="a", relevant=True, relevance=1.0),
]


def test_the_harvest_rate_is_relevant_pages_per_page_at_every_step() -> None:
    assert series.harvest(PAGES) == [(1, 1.0), (2, 0.5), (3, pytest.approx(2 / 3)), (4, 0.75)]


def test_the_recent_rate_looks_at_the_last_hundred_pages_only() -> None:
    pages = [row(step=step, relevant=step <= 60) for step in range(1, 161)]
    points = dict(series.recent_harvest(pages))
    assert points[60] == 1.0
    assert points[100] == 0.6
    assert points[130] == pytest.approx(0.3)
    assert points[160] == 0.0
    assert min(points) == series.EARLY
    assert series.recent_harvest(PAGES) == []  # too few to say anything


def test_a_site_counts_once_and_only_when_something_there_is_relevant() -> None:
    assert series.relevant_sites(PAGES) == [(1, 1), (2, 1), (3, 2), (4, 2)]


def test_sites_with_most_relevant_pages_come_first() -> None:
    first, second = series.sites_of(PAGES)
    assert (first.name, first.pages, first.relevant, first.share) == ("a", 2, 2, 1.0)
    assert (second.name, second.pages, second.relevant, second.share) == ("b", 2, 1, 0.5)


def test_every_page_is_in_the_histogram_and_certainty_in_its_last_bin() -> None:
    counts = series.histogram(PAGES)
    assert sum(counts) == len(PAGES)
    assert counts[-1] == 1
    assert counts[2] == 1


def test_a_long_curve_is_thinned_and_keeps_both_ends() -> None:
    points = [(float(i), 0.0) for i in range(1, 20_001)]
    kept = series.thin(points)
    assert len(kept) <= series.POINTS + 1
    assert (kept[0], kept[-1]) == (points[0], points[-1])


def test_the_headline_is_the_summary(reader: RunReader, done: Path) -> None:
    summary = json.loads((done / "summary.json").read_text())
    headline = series.headline(reader)
    assert headline["pages"] == f"{summary['pages']}"
    assert headline["relevant pages"] == f"{summary['relevant']}"
    assert headline["harvest rate"] == f"{summary['harvest_rate']:.1%}"
    assert headline["relevant sites"] == f"{summary['relevant_sites']}"
    assert headline["failures"] == f"{sum(summary['failures'].values())}"
    assert headline["budget"] == f"{summary['budget']}"


def test_failures_are_counted_by_kind_with_examples(reader: RunReader) -> None:
    (kind,) = series.failures_by_kind(reader.failures)
    assert kind.kind == "http-404"
    assert kind.count == len(reader.failures) > 3
    assert kind.examples == tuple(reader.failures[:3])


def test_gaps_lie_between_the_requests_of_one_site() -> None:
    asked = SiteRequests("a", (10.0, 12.0, 12.5, 20.0))
    assert asked.gaps == [2.0, 0.5, 7.5]
    assert (asked.smallest_gap, asked.median_gap) == (0.5, 2.0)
    assert sum(asked.over_time(10.0, 20.0)) == 4
    assert asked.over_time(10.0, 20.0)[0] == asked.over_time(10.0, 20.0)[-1] == 1


def test_the_busiest_sites_have_the_requests_of_pages_and_failures(reader: RunReader) -> None:
    asked = busiest_sites(reader)
    times = [len(each.times) for each in asked]
    assert times == sorted(times, reverse=True)
    urls = [page.asked for page in reader.pages] + [failure.url for failure in reader.failures]
    for each in asked:
        assert len(each.times) == sum(url.startswith(f"http://{each.site}/") for url in urls)
    assert all(each.smallest_gap >= 0.5 for each in asked)
    assert time_span(reader)[0] == 1000.5
