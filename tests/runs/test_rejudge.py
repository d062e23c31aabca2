"""Pages of a run are judged again: by the newest model, each once, and nothing else changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tres
from tres.offline.pages import PagesWeb
from tres.runs.rejudge import BATCH, Rejudged, rejudge_idle_run, rejudge_run
from tres.store.judgements import Judgement, append_judgement
from tres.store.run_directory import lock_run
from tres.store.run_results import read_pages, read_summary
from tres.web.page import Link, Page

PAGES = BATCH + 6


class Wants:
    """A judge for whom a page is relevant if it has one word."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []
        self.largest = 0

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        self.largest = max(self.largest, len(texts))
        return np.array([0.75 if self.word in text else 0.25 for text in texts], np.float32)


class Says(Wants):
    """The same as a model, which has an identity."""

    @property
    def digest(self) -> str:
        return f"says {self.word}"

    def save(self, directory: Path) -> None:
        raise NotImplementedError


def url(i: int) -> str:
    return f"http://site{i % 4}.example/{i}"


def page(i: int) -> Page:
    words = " ".join(word for word, every in (("honey", 2), ("wax", 3)) if i % every == 0)
    return Page(url(i), f"Page {i}", f"{words} text", (Link(url(i + 1), "next"),))


@pytest.fixture
def web() -> PagesWeb:
    return PagesWeb([page(i) for i in range(PAGES + 10)])


@pytest.fixture
def run(web: PagesWeb, tmp_path: Path) -> Path:
    """A finished crawl whose judge wanted honey."""
    topic = tres.new_topic(["honey"], [url(0)])
    crawled = tres.run_crawl(
        topic, web, run=tmp_path / "run", pages=PAGES, judge=Wants("honey"), policy="breadth-first"
    )
    assert len(crawled.pages) == PAGES
    return tmp_path / "run"


def files(run: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()}


def wax(row: dict[str, str]) -> bool:
    return int(row["url"].rsplit("/", 1)[1]) % 3 == 0


def test_a_newer_model_decides_what_is_relevant(run: Path, web: PagesWeb) -> None:
    before = files(run)
    result = rejudge_run(run, web, Says("wax"))
    rows = read_pages(run)
    assert [row["relevant"] == "1" for row in rows] == [wax(row) for row in rows]
    assert [row["relevance"] for row in rows] == ["0.75" if wax(row) else "0.25" for row in rows]
    assert [row["reward"] == "1" for row in rows] == [i % 2 == 0 for i in range(PAGES)]
    found = sum(wax(row) and row["reward"] == "0" for row in rows)
    lost = sum(not wax(row) and row["reward"] == "1" for row in rows)
    assert result == Rejudged(PAGES, 0, sum(map(wax, rows)), found, lost)
    assert min(found, lost) > 0
    changed = {name for name, content in files(run).items() if content != before.get(name)}
    assert changed == {"verdicts.json", "pages.csv", "summary.json"}


def test_the_summary_is_about_the_verdicts(run: Path, web: PagesWeb) -> None:
    old = read_summary(run)
    rejudge_run(run, web, Says("wax"))
    new, rows = read_summary(run), read_pages(run)
    relevant = [row for row in rows if row["relevant"] == "1"]
    numbers = {
        "relevant": len(relevant),
        "harvest_rate": len(relevant) / PAGES,
        "relevant_sites": len({row["site"] for row in relevant}),
        "judged_by": {"model": PAGES},
    }
    assert new == old | numbers | {"checksums": new["checksums"]}
    assert new["checksums"]["tree.json" if "tree.json" in old["checksums"] else "failures.csv"]


def test_twice_changes_nothing_and_reads_nothing(run: Path, web: PagesWeb) -> None:
    rejudge_run(run, web, Says("wax"))
    before, written = files(run), (run / "verdicts.json").stat().st_mtime_ns
    again = Says("wax")
    result = rejudge_run(run, web, again)
    assert (result.now_relevant, result.no_longer) == (0, 0)
    assert files(run) == before
    assert (run / "verdicts.json").stat().st_mtime_ns == written
    assert again.asked == []


def test_the_model_of_then_says_what_it_said_then(run: Path, web: PagesWeb) -> None:
    old = read_summary(run)
    result = rejudge_run(run, web, Says("honey"))
    assert (result.now_relevant, result.no_longer) == (0, 0)
    new = read_summary(run)
    assert {key: new[key] for key in old if key != "checksums"} == {
        key: value for key, value in old.items() if key != "checksums"
    }


def test_a_run_that_has_grown_costs_its_new_pages(run: Path, web: PagesWeb) -> None:
    rejudge_run(run, web, Says("wax"))
    more = tres.resume_crawl(run, web, pages=PAGES + 5, judge=Wants("honey"))
    assert len(more.pages) == PAGES + 5
    judge = Says("wax")
    rejudge_run(run, web, judge)
    assert len(judge.asked) == 5
    assert all(row["relevant"] == str(int(wax(row))) for row in read_pages(run))


def test_pages_are_judged_a_few_at_a_time(run: Path, web: PagesWeb) -> None:
    judge, counted = Says("wax"), list[int]()
    rejudge_run(run, web, judge, counted.append)
    assert judge.largest == BATCH
    assert counted == [BATCH, PAGES - BATCH]


def test_what_a_person_said_is_not_changed(run: Path, web: PagesWeb) -> None:
    append_judgement(run, Judgement(url(0), False, 1, 0.75))
    append_judgement(run, Judgement(url(1), True, 2, 0.25))
    rejudge_run(run, web, Says("wax"))
    rows = read_pages(run)
    assert [(row["relevant"], row["relevance"], row["judged_by"]) for row in rows[:2]] == [
        ("0", "0", "person"),
        ("1", "1", "person"),
    ]
    assert [row["reward"] for row in rows[:2]] == ["1", "0"]
    assert read_summary(run)["judged_by"] == {"model": PAGES - 2, "person": 2}


def test_pages_that_are_gone_are_what_they_were(run: Path) -> None:
    rest = PagesWeb([page(i) for i in range(3, PAGES)])
    result = rejudge_run(run, rest, Says("wax"))
    assert result.missing == 3
    assert [row["relevant"] for row in read_pages(run)[:4]] == ["1", "0", "1", "1"]


def test_a_web_with_none_of_the_pages_changes_nothing(run: Path) -> None:
    before = files(run)
    result = rejudge_run(run, PagesWeb([page(999)]), Says("wax"))
    assert result.missing == result.pages == PAGES
    assert files(run) == before


def test_a_crawl_that_was_killed_is_judged_and_has_no_summary(run: Path, web: PagesWeb) -> None:
    (run / "summary.json").unlink()
    rejudge_run(run, web, Says("wax"))
    assert not (run / "summary.json").exists()
    assert [row["relevant"] == "1" for row in read_pages(run)] == list(map(wax, read_pages(run)))


def test_a_run_that_is_crawled_is_left_alone(run: Path, web: PagesWeb) -> None:
    before = files(run)
    with lock_run(run):
        assert rejudge_idle_run(run, web) is None
    assert files(run) == before


def test_the_end_of_a_crawl_counts_what_was_said_during_it(run: Path, web: PagesWeb) -> None:
    rejudge_run(run, web, Says("wax"))
    append_judgement(run, Judgement(url(1), True, 2, 0.25))
    tres.resume_crawl(run, web, pages=PAGES + 2, judge=Wants("honey"))
    rows = read_pages(run)
    summary = json.loads((run / "summary.json").read_text())
    assert summary["relevant"] == sum(row["relevant"] == "1" for row in rows)
    assert summary["relevant"] != sum(row["reward"] == "1" for row in rows)
    assert tres.Run(run).relevant == summary["relevant"]
    assert summary["judged_by"] == {"model": PAGES + 1, "person": 1}
