"""A crawl that teaches its own model: the same crawl every time, however often it is stopped."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tres
from tres.offline.generated.generator import GeneratedWeb
from tres.relevance import positive_unlabelled
from tres.relevance.examples import JUDGED_WEIGHT, TAUGHT_WEIGHT
from tres.relevance.positive_unlabelled import SEED_WEIGHT, CrawledPage, learn_topic, next_refit
from tres.relevance.static import StaticModel
from tres.runs import refits
from tres.runs.refits import Refits, crawled_pages
from tres.settings.topic_file import TopicConfig
from tres.store import recorded_session, run_controller
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_records import encode
from tres.store.judgements import TEACHER, Judgement, append_judgement
from tres.store.model_versions import model_of, newest_model
from tres.web.page import Page

FIRST = next_refit(0) or 0
SECOND = next_refit(FIRST + 1) or 0
PAGES = SECOND + 18
DESCRIPTION = "Astronomy: stars, planets and galaxies, and the telescopes that observe them."
PATIENCE = 60.0
"""Seconds that anything may take on a busy machine."""
RESULTS = ("pages.csv", "failures.csv", "tree.json")


class KilledError(Exception):
    """Whatever ends a crawl in the middle of something."""


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(600, 1)


@pytest.fixture(scope="module")
def topic(web: GeneratedWeb) -> TopicConfig:
    """A sentence and three seeds, without a keyword or an example."""
    return tres.new_topic(description=DESCRIPTION, seeds=web.seeds("astronomy", 3))


@pytest.fixture(scope="module")
def whole(web: GeneratedWeb, topic: TopicConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that nobody has disturbed."""
    run = tmp_path_factory.mktemp("whole") / "run"
    tres.run_crawl(topic, web, run=run, pages=PAGES)
    return run


def results(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in RESULTS}


def models(run: Path) -> list[str]:
    """The models that judged pages, in order."""
    with Journal.open(run / JOURNAL) as journal:
        return list(dict.fromkeys(begin.model for begin in journal.segments()))


def records(run: Path) -> list[tuple[str, bytes]]:
    """The records of the journal as they are written, without the time of each."""
    with Journal.open(run / JOURNAL) as journal:
        return [encode(entry) for _, entry in journal.entries()]


def texts(run: Path) -> dict[str, str]:
    with Journal.open(run / JOURNAL) as journal:
        return journal.page_texts()


def rows(run: Path) -> list[dict[str, Any]]:
    with Journal.open(run / JOURNAL) as journal:
        return [dict(row) for row in journal.pages()]


def at_step(step: int, act: Callable[[], object]) -> Callable[[tres.PageRow], bool | None]:
    """Do something at a step; the crawl ends there if the answer is False."""

    def on_page(page: tres.PageRow) -> bool | None:
        return False if page.step == step and act() is False else None

    return on_page


# What it learns


def test_a_sentence_and_three_seeds_are_enough(whole: Path, web: GeneratedWeb) -> None:
    pages = tres.Run(whole).pages
    about = []
    for row in pages:
        page = web.fetch(row.url)
        assert isinstance(page, Page)
        about.append("astronomy" in page.labels)
    assert sum(about) > PAGES / 4
    assert np.mean([page.relevant == truth for page, truth in zip(pages, about, strict=True)]) > 0.9


def test_new_models_judge_as_soon_as_they_are_due(whole: Path) -> None:
    with Journal.open(whole / JOURNAL) as journal:
        begins = journal.begins()
        steps = [record for record, _ in journal.pages_after(0)]
    reached = [sum(record < begun for record in steps) for begun, _ in begins]
    due = [pages for pages in (FIRST, SECOND, next_refit(SECOND + 1)) if pages and pages < PAGES]
    assert reached == [0, *due]
    assert len(set(models(whole))) == len(begins)


def test_a_model_is_what_the_pages_so_far_teach(whole: Path, topic: TopicConfig) -> None:
    start, second = (model_of(whole, digest) for digest in models(whole)[:2])
    assert isinstance(start, StaticModel)
    with Journal.open(whole / JOURNAL) as journal:
        pages = crawled_pages(whole, journal)[:FIRST]
    again = learn_topic(pages, start, topic.crawl.seed)
    assert again is not None
    assert again.digest == second.digest


def test_every_page_is_judged_by_the_last_model_in_the_end(whole: Path) -> None:
    with Journal.open(whole / JOURNAL) as journal:
        said = journal.page_texts()
    last = newest_model(whole)
    assert last.digest == models(whole)[-1]
    for page in tres.Run(whole).pages:
        (probability,) = last.probabilities([said[page.url]])
        assert page.relevance == pytest.approx(float(probability), abs=1e-6)


def test_seeds_are_known_to_be_relevant_and_other_pages_are_not(
    whole: Path, topic: TopicConfig
) -> None:
    with Journal.open(whole / JOURNAL) as journal:
        pages = crawled_pages(whole, journal)
    known = [(page.label, page.weight) for page in pages]
    assert known[:3] == [(True, SEED_WEIGHT)] * 3
    assert set(known[3:]) == {(None, 1.0)}


# The same every time


@pytest.mark.parametrize("in_flight", [1, 4])
def test_two_crawls_with_one_seed_are_the_same_byte_for_byte(
    web: GeneratedWeb, topic: TopicConfig, tmp_path: Path, in_flight: int
) -> None:
    runs = [tmp_path / name for name in ("one", "other")]
    for run in runs:
        tres.run_crawl(topic, web, run=run, pages=PAGES, in_flight=in_flight)
    assert results(runs[0]) == results(runs[1])
    assert records(runs[0]) == records(runs[1])
    assert models(runs[0]) == models(runs[1])
    assert len(models(runs[0])) > 1
    assert newest_model(runs[0]).digest == newest_model(runs[1]).digest


@pytest.mark.parametrize("step", [1, FIRST - 1, FIRST, FIRST + 1, SECOND])
def test_a_crawl_that_is_stopped_and_resumed_is_the_one_that_was_not(
    web: GeneratedWeb, topic: TopicConfig, whole: Path, tmp_path: Path, step: int
) -> None:
    run = tmp_path / "run"
    stopped = at_step(step, lambda: False)
    tres.run_crawl(topic, web, run=run, pages=PAGES, on_page=stopped)
    assert len(rows(run)) == step
    tres.resume_crawl(run, web)
    assert results(run) == results(whole)
    assert models(run) == models(whole)


def test_nor_does_it_matter_how_often(
    web: GeneratedWeb, topic: TopicConfig, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=FIRST - 2)
    for pages in (*range(FIRST - 1, FIRST + 3), SECOND, SECOND + 1, PAGES):
        tres.resume_crawl(run, web, pages=pages)
    assert results(run) == results(whole)
    assert models(run) == models(whole)


@pytest.mark.parametrize("moment", ["keep_model", "adopt_model", "begin"])
def test_a_crawl_that_breaks_while_it_changes_its_model_is_the_one_that_did_not(
    web: GeneratedWeb,
    topic: TopicConfig,
    whole: Path,
    tmp_path: Path,
    moment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        place = recorded_session.RecordedSession if moment == "begin" else run_controller
        patch.setattr(place, moment, die)
        with pytest.raises(KilledError):
            tres.run_crawl(topic, web, run=run, pages=PAGES)
    assert len(rows(run)) == FIRST
    tres.resume_crawl(run, web)
    assert results(run) == results(whole)
    assert models(run) == models(whole)


def test_nor_does_it_matter_if_it_breaks_just_after(
    web: GeneratedWeb, topic: TopicConfig, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(KilledError):
        tres.run_crawl(topic, web, run=run, pages=PAGES, on_page=at_step(FIRST + 1, die))
    tres.resume_crawl(run, web)
    assert results(run) == results(whole)
    assert models(run) == models(whole)


def die(*arguments: object) -> bool:
    raise KilledError


# What is kept


def test_the_journal_keeps_what_pages_say_while_the_crawl_learns_from_it(
    web: GeneratedWeb, topic: TopicConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = FIRST + 3
    for module in (recorded_session, refits, positive_unlabelled):
        monkeypatch.setattr(module, "LAST_REFIT", last)
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=last + 10)
    assert list(texts(run)) == [row["url"] for row in rows(run)[:last]]
    assert len(models(run)) == 2  # and no more is learnt afterwards


def test_a_topic_with_examples_keeps_no_text(web: GeneratedWeb, tmp_path: Path) -> None:
    topic = tres.new_topic(
        description=DESCRIPTION, seeds=web.seeds("astronomy", 3), labels=["astronomy"]
    )
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=FIRST + 5)
    assert texts(run) == {}
    assert len(models(run)) == 1
    tres.resume_crawl(run, web, pages=FIRST + 8)
    assert texts(run) == {}
    assert len(models(run)) == 1


class Wants:
    """A judge of a program."""

    def probabilities(self, found: list[str]) -> np.ndarray:
        return np.array(["star" in text for text in found], np.float32)


def test_nor_does_one_that_a_program_judges(
    web: GeneratedWeb, topic: TopicConfig, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=FIRST + 5, judge=Wants())
    assert texts(run) == {}
    assert len(models(run)) == 1


def test_pages_that_teach_nothing_leave_the_first_model(web: GeneratedWeb, tmp_path: Path) -> None:
    """No page of this web is about the topic."""
    topic = tres.new_topic(
        description="Knitting, crochet and embroidery.", seeds=web.seeds("astronomy", 3)
    )
    run = tmp_path / "run"
    crawled = tres.run_crawl(topic, web, run=run, pages=FIRST + 5)
    assert len(crawled.pages) == FIRST + 5
    assert len(models(run)) == 1


# What people say


def judge(run: Path, row: dict[str, Any], relevant: bool, by: str | None = None) -> None:
    more = {} if by is None else {"by": by}
    append_judgement(run, Judgement(row["url"], relevant, row["step"], row["relevance"], **more))


def test_judgements_count_as_they_were_made(
    web: GeneratedWeb, topic: TopicConfig, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=FIRST + 2)
    seed, other, third, *_ = (found := rows(run))[0], found[5], found[6]
    judge(run, seed, False)
    judge(run, other, True)
    judge(run, third, False, TEACHER)
    judge(run, third, True, TEACHER)  # the last word counts
    with Journal.open(run / JOURNAL) as journal:
        pages = crawled_pages(run, journal)
    assert [known(pages, row) for row in (seed, other, third)] == [
        (False, JUDGED_WEIGHT),
        (True, JUDGED_WEIGHT),
        (True, TAUGHT_WEIGHT),
    ]


def known(pages: list[CrawledPage], row: dict[str, Any]) -> tuple[bool | None, float]:
    page = pages[row["step"] - 1]
    return page.label, page.weight


def test_judgements_during_a_crawl_survive_its_refits(
    web: GeneratedWeb, topic: TopicConfig, whole: Path, tmp_path: Path
) -> None:
    """Somebody refuses a part of what the crawl liked, before the first refit and the second."""
    run, refused = tmp_path / "run", set()

    def refuse() -> None:
        liked = [row for row in rows(run) if row["parent"] and row["reward"]]
        for row in liked[::3]:
            refused.add(row["url"])
            judge(run, row, False)

    def on_page(page: tres.PageRow) -> None:
        if page.step in (FIRST - 1, SECOND - 1):
            refuse()

    crawled = tres.run_crawl(topic, web, run=run, pages=PAGES, on_page=on_page)
    assert refused
    said = {page.url: page for page in crawled.pages}
    assert not any(said[url].relevant for url in refused)
    assert {said[url].judged_by for url in refused} == {"person"}
    assert models(run)[0] == models(whole)[0]
    assert models(run)[1] != models(whole)[1]  # the first refit knew of them


def test_a_judgement_between_two_starts_counts_in_the_next_refit(
    web: GeneratedWeb, topic: TopicConfig, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres.run_crawl(topic, web, run=run, pages=FIRST - 1)
    for row in rows(run):
        judge(run, row, not row["reward"])
    tres.resume_crawl(run, web, pages=FIRST + 1)
    assert len(models(run)) == 2
    assert models(run)[1] != models(whole)[1]


# Beside a live crawl


class Lessons:
    """Fits that end when a test says so; each gives its number for a model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[list[CrawledPage]] = []
        self.may_end = threading.Event()
        monkeypatch.setattr(refits, "learn_topic", self._learn)

    def _learn(self, pages: list[CrawledPage], start: object, seed: int) -> int:
        self.begun.append(pages)
        number = len(self.begun)
        assert self.may_end.wait(PATIENCE)
        return number

    def wait(self, number: int) -> None:
        """Wait until so many fits have begun."""
        wait_for(lambda: len(self.begun) >= number)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def lessons(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lessons]:
    made = Lessons(monkeypatch)
    yield made
    made.may_end.set()


Ask = Callable[[int], Any]


@pytest.fixture
def ask(whole: Path, topic: TopicConfig, tmp_path: Path) -> Iterator[Ask]:
    """Ask for a new model after so many pages, as a live crawl does after every page."""
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    beside = Refits(run, topic, 0, beside=True)
    with Journal.open(run / JOURNAL) as journal:
        yield lambda steps: beside.new_model(journal, steps)


def test_the_crawl_does_not_wait_for_a_fit(lessons: Lessons, ask: Ask) -> None:
    assert ask(FIRST - 1) is None
    assert lessons.begun == []
    assert ask(FIRST) is None  # it begins
    lessons.wait(1)
    assert [ask(steps) for steps in (FIRST, FIRST + 1, SECOND, SECOND + 1)] == [None] * 4
    assert len(lessons.begun) == 1  # one at a time, though another is due


def test_a_model_is_given_once_and_the_next_fit_begins_when_it_is_due(
    lessons: Lessons, ask: Ask
) -> None:
    ask(FIRST)
    lessons.may_end.set()
    wait_for(lambda: ask(FIRST + 1) == 1)
    assert [ask(steps) for steps in (FIRST + 1, SECOND - 1)] == [None, None]
    assert len(lessons.begun) == 1
    assert ask(SECOND) is None
    lessons.wait(2)


def test_what_was_judged_during_a_fit_is_learnt_at_once(
    lessons: Lessons, ask: Ask, tmp_path: Path
) -> None:
    ask(FIRST)
    lessons.wait(1)
    judge(tmp_path / "run", rows(tmp_path / "run")[4], False)
    lessons.may_end.set()
    wait_for(lambda: ask(FIRST + 1) == 1)
    ask(FIRST + 1)
    lessons.wait(2)
    before, after = ([page.label for page in pages] for pages in lessons.begun)
    assert (before[4], after[4]) == (None, False)


def test_a_resumed_crawl_learns_at_once_as_its_last_fit_may_not_have_ended(
    lessons: Lessons, whole: Path, topic: TopicConfig
) -> None:
    beside = Refits(whole, topic, FIRST + 2, beside=True)
    with Journal.open(whole / JOURNAL) as journal:
        beside.new_model(journal, FIRST + 2)
    lessons.wait(1)


def test_a_fit_that_fails_is_not_silent(
    whole: Path, topic: TopicConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refits, "learn_topic", die)
    beside = Refits(whole, topic, 0, beside=True)
    with Journal.open(whole / JOURNAL) as journal, pytest.raises(KilledError):
        wait_for(lambda: beside.new_model(journal, FIRST) is not None)
