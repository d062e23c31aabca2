"""Extracts come from the kept pages; those that are missing are mentioned."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from tests.report.runs import unpacked
from tests.support.bees import bees_config, crawl_bees, write_bees

from tres.report.pages_table import best_first, extracts_of
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bees(tmp_path_factory.mktemp("bees") / "bees.jsonl")


@pytest.fixture(scope="module")
def run(archive: Path) -> Path:
    return crawl_bees(archive.parent / "run", archive, bees_config())


def test_pages_show_the_words_of_the_topic_in_their_text(run: Path) -> None:
    reader = RunReader(run)
    found = extracts_of(reader)
    assert set(found.texts) == {page.step for page in reader.pages}
    assert found.note == ""
    for page in reader.pages:
        text = found.texts[page.step]
        assert text.keywords == (("honey", "hive") if page.relevant else ())
    page = report_page(reader)
    assert "<mark>honey</mark> bees live in a <mark>hive</mark> where" in page
    assert "Hive lexicon 3" in page  # an archive's titles are not in the journal
    first = best_first(reader.pages)[0].step
    assert unpacked(page)["extract"][str(first)][1] == "honey"


def test_only_the_most_relevant_pages_are_read_again(run: Path) -> None:
    reader = RunReader(run)
    found = extracts_of(reader, most=3)
    assert list(found.texts) == [page.step for page in best_first(reader.pages)[:3]]


def test_an_archive_that_is_gone_leaves_a_report_without_extracts(tmp_path: Path) -> None:
    archive = write_bees(tmp_path / "bees.jsonl")
    run = crawl_bees(tmp_path / "run", archive, bees_config())
    moved = archive.rename(tmp_path / "moved.jsonl")
    page = report_page(RunReader(run))
    assert "<mark>" not in page
    assert f"Some extracts are missing: {archive}" in unescape(page)
    assert "<mark>honey</mark>" in report_page(RunReader(run), str(moved))


def test_a_run_that_kept_nothing_says_so(reader: RunReader) -> None:
    assert extracts_of(reader).note == "the run has not kept its pages"
