"""`tres explain`: why a page was fetched, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Tres, url


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", 20).code == 0
    return path


def test_several_urls_are_told_one_after_the_other(tres: Tres, run: Path) -> None:
    outcome = tres("explain", run, 5, url(0).removeprefix("http://"), "http://nowhere.example/")
    assert outcome.code == 0
    page, seed, unknown = outcome.out.split("\n\nhttp://")
    assert "as page 5 of 20" in page
    assert seed.startswith("site0.example/page/0")
    assert "because it is a seed" in seed
    assert "tres does not know it" in unknown


def test_json_has_all_facts_one_object_a_line(tres: Tres, run: Path) -> None:
    lines = tres("explain", run, 5, "http://nowhere.example/", "--json").out.splitlines()
    page, unknown = map(json.loads, lines)
    assert (page["case"], page["step"], unknown["case"]) == ("fetched", 5, "never")
    assert page["verdict"]["telling"]["spoke_for"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [("99", "has fetched 20 pages"), ("not a url", "is not a web address")],
)
def test_what_cannot_be_meant_is_refused(tres: Tres, run: Path, asked: str, told: str) -> None:
    outcome = tres("explain", run, asked)
    assert outcome.code == 2
    assert told in outcome.err


def test_a_directory_without_a_run_is_refused(tres: Tres, tmp_path: Path) -> None:
    outcome = tres("explain", tmp_path, "1")
    assert outcome.code == 2
    assert "not a run directory" in outcome.err
