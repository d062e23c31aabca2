"""Several runs side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.runs import finished

from tres.report.compare import comparison_page, differences, name_runs, unique_finds
from tres.report.run_reader import RunReader


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> list[RunReader]:
    base = tmp_path_factory.mktemp("compared")
    runs = [finished(base / "tres", 60), finished(base / "random", 40, policy="random")]
    return [RunReader(run) for run in runs]


def test_what_only_one_run_found_is_counted(readers: list[RunReader]) -> None:
    counts = unique_finds(name_runs(readers))
    pages = [{page.url for page in each.pages if page.relevant} for each in readers]
    assert counts["tres"][2:] == (len(pages[0]), len(pages[0] - pages[1]))
    assert counts["random"][2:] == (len(pages[1]), len(pages[1] - pages[0]))
    assert counts["tres"][3] > 0
    assert counts["tres"][0] >= counts["tres"][1]


def test_only_settings_that_differ_are_listed(readers: list[RunReader]) -> None:
    found = differences([reader.config for reader in readers])
    assert found == {"crawl.pages": ["60", "40"], "crawl.policy": ['"tres"', '"random"']}


def test_runs_of_the_same_name_are_numbered(readers: list[RunReader]) -> None:
    assert list(name_runs([readers[0], readers[0]])) == ["tres (1)", "tres (2)"]
    assert list(name_runs(readers)) == ["tres", "random"]


def test_the_page_has_a_column_and_a_line_per_run(readers: list[RunReader]) -> None:
    page = comparison_page(name_runs(readers))
    assert '<th scope="col" class="n">tres</th><th scope="col" class="n">random</th>' in page
    assert page.count("<polyline") == 5 * 2
    assert "<script" not in page
    assert "crawl.seed" not in page
    assert "script-src &#x27;none&#x27;" in page


def test_equal_settings_are_reported_as_equal(readers: list[RunReader], tmp_path: Path) -> None:
    page = comparison_page(name_runs([readers[0], readers[0]]))
    assert "All settings are the same." in page
