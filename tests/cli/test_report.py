"""`tres report`: a page and a summary, of one run or of several, and its refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Tres


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path).code == 0
    return path


def test_one_run_gives_a_page_beside_it_and_a_summary(tres: Tres, run: Path) -> None:
    outcome = tres("report", run)
    assert outcome.code == 0
    summary = json.loads((run / "summary.json").read_text())
    said = " ".join(outcome.out.split())
    assert said.startswith(f"run: {summary['harvest_rate']:.1%} harvest rate. It kept finding")
    assert "The budget is spent, and" in said
    assert "site0.example" in outcome.out
    assert outcome.out.endswith(f"report: {run / 'report.html'}\n")
    page = (run / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Politeness" not in page  # nothing was asked of anybody


def test_the_page_goes_where_it_is_told(tres: Tres, run: Path, tmp_path: Path) -> None:
    assert tres("report", run, "--out", tmp_path / "here.html").code == 0
    assert (tmp_path / "here.html").exists()
    assert not (run / "report.html").exists()


def test_a_summary_alone_writes_nothing(tres: Tres, run: Path) -> None:
    before = sorted(run.iterdir())
    assert "harvest rate" in tres("report", run, "--no-html").out
    assert sorted(run.iterdir()) == before


def test_several_runs_are_compared_in_one_page_here(
    tres: Tres, run: Path, topic: Path, archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    other = tmp_path / "other"
    tres("crawl", topic, "--web", archive, "--run", other, "--policy", "random")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    outcome = tres("report", run, other)
    assert outcome.code == 0
    assert re.search(r'crawl\.policy +"tres" +"random"', outcome.out)
    assert "crawl.seed" not in outcome.out
    assert "Comparison of 2 crawls" in Path("report.html").read_text()


def test_a_run_is_opened_again_over_its_report(
    tres: Tres, run: Path, topic: Path, archive: Path
) -> None:
    """The page lies in the run's directory, and is no foreign file there."""
    tres("report", run)
    assert tres("crawl", topic, "--web", archive, "--run", run, "--overwrite").code == 0
    assert not (run / "report.html").exists()


def test_what_is_no_run_is_refused(tres: Tres, tmp_path: Path) -> None:
    assert tres("report", tmp_path)[::2] == (
        2, f"tres: {tmp_path}: not a run directory; name one that 'tres crawl' has written\n"
    )  # fmt: skip


def test_a_place_that_cannot_be_written_is_named(tres: Tres, run: Path, tmp_path: Path) -> None:
    outcome = tres("report", run, "--out", tmp_path / "missing" / "page.html")
    assert outcome.code == 2
    assert "page.html: cannot be written (No such file" in outcome.err
    assert outcome.err.endswith("name another --out\n")


def test_an_archive_that_has_moved_is_named(tres: Tres, run: Path, archive: Path) -> None:
    moved = archive.rename(archive.with_name("moved.jsonl"))
    assert tres("report", run).code == 0
    assert "Some extracts are missing" in (run / "report.html").read_text()
    assert tres("report", run, "--web", moved).code == 0
    assert "Some extracts are missing" not in (run / "report.html").read_text()
    outcome = tres("report", run, run, "--web", moved)
    assert outcome.code == 2
    assert "leave it out, or name one run" in outcome.err


def test_no_page_and_a_place_for_it_are_refused(tres: Tres, run: Path) -> None:
    outcome = tres("report", run, "--no-html", "--out", "x.html")
    assert outcome[::2] == (2, "tres: --no-html writes no page; leave out --out and --open\n")
