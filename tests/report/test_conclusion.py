"""The conclusion follows from the pages of a run, and from what stopped it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.report.runs import crawl, finished, killed, opened

from tres.crawl.events import StopReason
from tres.errors import SeedError
from tres.report.conclusion import Trend, conclusion, describe_harvest, harvest_of
from tres.report.run_reader import RunReader


def pages(*parts: tuple[int, float], seed: int = 1) -> list[bool]:
    """So many pages in a row, each relevant with this chance."""
    rng = np.random.default_rng(seed)
    return [bool(chance) for count, rate in parts for chance in rng.random(count) < rate]


@pytest.mark.parametrize(
    ("parts", "trend"),
    [
        ([(300, 0.0)], "none"),
        ([(1400, 0.6), (600, 0.0)], "dry"),
        ([(1, 1.0), (99, 0.0)], "dry"),
        ([(20, 1.0), (9, 0.0)], "steady"),  # too few pages to give up
        ([(1400, 0.6), (600, 0.02)], "faint"),
        ([(1000, 0.5), (1000, 0.2)], "falling"),
        ([(100, 0.1), (1900, 0.6)], "rising"),
        ([(100, 0.1), (1300, 0.7), (600, 0.02)], "faint"),
        ([(1000, 0.01)], "little"),
        ([(600, 0.4)], "steady"),
        ([(30, 0.5)], "steady"),
        ([(1, 1.0)], "steady"),
    ],
)
def test_how_a_harvest_goes(parts: list[tuple[int, float]], trend: Trend) -> None:
    assert harvest_of(pages(*parts)).trend == trend


def test_a_change_is_found_where_it_was() -> None:
    assert harvest_of(pages((1400, 0.6), (600, 0.02))).since == pytest.approx(1400, abs=15)
    assert harvest_of(pages((1000, 0.5), (1000, 0.2))).since == pytest.approx(1000, abs=40)


def test_chance_is_not_taken_for_a_change() -> None:
    trends = {harvest_of(pages((600, 0.4), seed=seed)).trend for seed in range(100)}
    assert trends == {"steady"}


def test_a_harvest_that_has_died_names_its_last_page() -> None:
    found = pages((1399, 0.5))
    harvest = harvest_of([*found, True, *pages((600, 0.0))])
    assert describe_harvest(harvest, ended=True) == (
        "Nothing new since page 1,400: none of the 600 pages after it is relevant."
    )


@pytest.mark.parametrize(
    ("relevant", "sentence"),
    [
        ([False], "The only page is not relevant."),
        ([False, False], "None of the 2 pages is relevant."),
        ([True], "The only page is relevant."),
        ([True, True], "Both pages are relevant."),
        ([True, False], "1 of the 2 pages is relevant."),
        (
            [True, *[False] * 40],
            "Nothing new since page 1: none of the 40 pages after it is relevant.",
        ),
        ([True] * 200, "It keeps finding relevant pages: all of the last 100 pages are relevant."),
    ],
)
def test_a_harvest_of_few_pages_reads_well(relevant: list[bool], sentence: str) -> None:
    assert describe_harvest(harvest_of(relevant), ended=False) == sentence


def test_a_crawl_that_spent_its_budget_while_it_was_finding_is_worth_more(tmp_path: Path) -> None:
    reader = RunReader(finished(tmp_path / "run", 100))
    waiting = reader.pages[-1].frontier
    assert conclusion(reader).endswith(
        f"The budget is spent, and {waiting} links are waiting: "
        "'tres resume --pages N' continues it."
    )


def test_the_conclusion_names_what_stopped_the_crawl(tmp_path: Path) -> None:
    with opened(tmp_path / "dry", max_per_site=5) as run:
        crawl(run, 20)
        run.finish(StopReason.FRONTIER_EXHAUSTED)
    assert conclusion(RunReader(tmp_path / "dry")).endswith(
        "It ended at page 20 of 150, as no links were left: more seeds, or more than 5 pages a "
        "site (crawl.max_per_site), would give more."
    )
    with opened(tmp_path / "halted") as run:
        crawl(run, 20)
        run.finish(StopReason.INTERRUPTED)
    assert "It was interrupted at page 20 of 150" in conclusion(RunReader(tmp_path / "halted"))
    with opened(tmp_path / "seedless") as run, suppress(SeedError):
        run.finish(StopReason.NO_SEED)
    assert conclusion(RunReader(tmp_path / "seedless")) == (
        "No page has been fetched. No seed gave a page: the failures below say why."
    )


def test_a_crawl_without_an_end_says_so(tmp_path: Path) -> None:
    assert "cut off before its end" in conclusion(RunReader(killed(tmp_path / "killed")))
    with opened(tmp_path / "run") as run:
        crawl(run, 30)
        text = conclusion(RunReader(tmp_path / "run"))
    assert "It keeps finding relevant pages: " in text or "It has learnt" in text
    assert "It is running; " in text
