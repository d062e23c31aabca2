"""A live crawl that teaches its own model, with nothing but a sentence and some seeds to begin."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL

import pytest
from benchmarks.kill import Scene, ordeal, served
from tests.support.local_web import GuardedWeb

from tres.relevance.positive_unlabelled import next_refit
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_records import Begin
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import model_of

from .test_live import LIVE, bees_and_markets, rows, run_tres, url

FIRST = next_refit(0) or 0
SECOND = next_refit(FIRST + 1) or 0
SEEDS = 3
PATIENCE = 60.0
"""Seconds that anything may take on a busy machine."""
TOPIC = f"""
[topic]
description = "Bees, the honey that they make, and the hives in which they live."
seeds = {[url(3 * i) for i in range(SEEDS)]}
[crawl]
in_flight = {SEEDS}
{LIVE}"""


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "bees.toml"
    path.write_text(TOPIC.replace("'", '"'))
    return path


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def begins(run: Path) -> list[tuple[int, Begin]]:
    if not (run / JOURNAL).exists():
        return []
    with Journal.open(run / JOURNAL) as journal:
        return journal.begins()


@pytest.mark.slow
def test_new_models_judge_what_comes_while_the_crawl_goes_on(topic: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"

    def guard(number: int) -> None:
        """Nothing more comes after the first lesson until it is learnt, and after the second."""
        if number > FIRST + SEEDS:
            wait_for(lambda: len(begins(run)) > 1)
        if number > SECOND + SEEDS:
            wait_for(lambda: len(begins(run)) > 2)

    with GuardedWeb(bees_and_markets(), guard) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", SECOND + 15)
    assert ended.returncode == 0, ended.stderr
    assert len(web.urls) == len(set(web.urls)) == SECOND + 15  # every page counts, and comes once
    assert len({begin.model for _, begin in begins(run)}) >= 3
    with Journal.open(run / JOURNAL) as journal:
        said, judged = journal.page_texts(), list(journal.pages_after(0))
        judges = [journal.judge_of(record) for record, _ in judged]
    assert list(dict.fromkeys(judges)) == [begin.model for _, begin in begins(run)]
    for (_, row), judge in zip(judged, judges, strict=True):
        (probability,) = model_of(run, judge).probabilities([said[row["url"]]])
        assert row["relevance"] == pytest.approx(float(probability), abs=1e-6), row["url"]


@pytest.mark.slow
def test_pages_are_fetched_side_by_side_from_the_first_on(topic: Path, tmp_path: Path) -> None:
    """The seeds wait for each other: fetched one by one, none of them would come."""
    all_there = threading.Barrier(SEEDS)
    together = []

    def guard(number: int) -> None:
        if number <= SEEDS:
            together.append(all_there.wait(PATIENCE))

    run = tmp_path / "run"
    with GuardedWeb(bees_and_markets(), guard) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 9)
    assert ended.returncode == 0, ended.stderr
    assert sorted(together) == list(range(SEEDS))
    assert len(rows(run)) == 9


@pytest.mark.slow
def test_what_is_judged_while_it_crawls_is_learnt_and_kept(topic: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    refused: set[str] = set()

    def guard(number: int) -> None:
        if number == FIRST - SEEDS:
            refuse_some(run, refused)
        if number > FIRST + SEEDS:
            wait_for(lambda: len(begins(run)) > 1)

    with GuardedWeb(bees_and_markets(), guard) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", FIRST + 15)
    assert ended.returncode == 0, ended.stderr
    assert len(begins(run)) > 1
    assert refused
    after = {row["url"]: row for row in rows(run)}
    assert {(after[url]["relevant"], after[url]["judged_by"]) for url in refused} == {
        ("0", "person")
    }


def refuse_some(run: Path, refused: set[str]) -> None:
    """Judge that two of the relevant pages are not relevant."""
    with Journal.open(run / JOURNAL) as journal:
        liked = [row for row in journal.pages() if row["reward"]][-2:]
    for row in liked:
        append_judgement(run, Judgement(row["url"], False, row["step"], row["relevance"]))
        refused.add(row["url"])


@pytest.mark.slow
def test_a_crawl_that_ends_before_it_has_learnt_learns_when_it_goes_on(
    topic: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"

    def guard(number: int) -> None:
        if number > FIRST + SEEDS:
            wait_for(lambda: len({begin.model for _, begin in begins(run)}) > 1)

    with GuardedWeb(bees_and_markets(), guard) as web:
        crawl = ("crawl", topic, "--proxy", web.proxy, "--run", run)
        assert run_tres(*crawl, "--pages", FIRST).returncode == 0
        first = {begin.model for _, begin in begins(run)}
        ended = run_tres("resume", run, "--pages", FIRST + 15)
    assert ended.returncode == 0, ended.stderr
    assert {begin.model for _, begin in begins(run)} > first
    assert len(web.urls) == len(set(web.urls)) == FIRST + 15


# Killed


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with served(tmp_path_factory.mktemp("web"), 900, learns=True) as scene:
        yield scene


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 8])
def test_killed_among_its_first_pages_it_loses_nothing(
    scene: Scene, tmp_path: Path, k: int
) -> None:
    run, pages = tmp_path / "run", 60
    result = ordeal(scene, run, pages, k, [2, 14, FIRST, FIRST + 2, SECOND, 45], SIGKILL)
    assert len(result.kills) == 6
    assert any(kill.in_flight for kill in result.kills)
    assert result.lost() == 0
    assert result.twice() == []
    assert result.asked_in_vain() == []
    assert result.orphans() == 0
    assert result.warc_is_whole()
    with Journal.open(run / JOURNAL) as journal:
        fetched = [row["url"] for row in journal.pages()]
        said = journal.page_texts()
    assert len(fetched) == pages
    assert said.keys() == set(fetched)  # what it learns from is there as well, in any order
    assert all(said.values())
