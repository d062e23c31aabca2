"""A run is followed: every page is counted once and sent once."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.dashboard import open_run, step

from tres.dashboard.followed_run import ClientState, FollowedRun
from tres.dashboard.run_counts import LAST_PAGES, LONGEST
from tres.report.run_reader import RunReader
from tres.runs.open_run import OpenRun
from tres.store.high_water_mark import MARK
from tres.store.journal import JOURNAL
from tres.store.judgements import Judgement, append_judgement
from tres.store.verdicts import write_verdicts


def news_for(followed: FollowedRun, news: dict | None = None) -> dict:
    """What a browser gets that already has `news`."""
    if news is None:
        return followed.news(ClientState())
    curve, pages = news["curve"], news["last_pages"]
    return followed.news(
        ClientState(
            news["edition"],
            curve["stride"],
            curve["points"][-1].step if curve["points"] else 0,
            pages[-1]["step"] if pages else 0,
            news["failed"],
            news["verdicts"],
        )
    )


def test_its_numbers_are_those_of_the_journal(run: OpenRun, clock) -> None:
    for _ in range(40):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    news, reader = news_for(followed), RunReader(run.directory)
    assert news["pages"] == len(reader.pages)
    assert news["relevant"] == reader.relevant
    assert news["harvest_rate"] == reader.harvest_rate
    assert news["relevant_sites"] == len({page.site for page in reader.pages if page.relevant})
    assert news["failures"] == {"http-404": len(reader.failures)}
    assert news["frontier"] == reader.pages[-1].frontier > 0
    assert sum(news["histogram"]) == len(reader.pages)
    assert news["budget"] == 1000
    assert news["state"] == "crawling"


def test_only_what_is_new_is_sent(run: OpenRun, clock) -> None:
    for _ in range(30):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    first = news_for(followed)
    assert [page["step"] for page in first["last_pages"]] == list(range(1, first["pages"] + 1))
    second = news_for(followed, first)
    assert second["last_pages"] == second["curve"]["points"] == []
    assert first["last_failures"]
    assert second["last_failures"] is None
    while run.session.steps == first["pages"]:
        step(run)
    third = news_for(followed, first)
    assert [page["step"] for page in third["last_pages"]] == [first["pages"] + 1]
    assert [point.step for point in third["curve"]["points"]] == [first["pages"] + 1]
    assert third["pages"] == first["pages"] + 1


def test_an_unchanged_run_is_not_read_again(run: OpenRun, clock, monkeypatch) -> None:
    step(run)
    followed = FollowedRun("letters", run.directory, clock)
    followed.listed()
    monkeypatch.setattr(RunReader, "refresh", lambda self: 1 / 0)
    followed.listed()


def test_a_run_that_was_crawled_anew_is_another_one(tmp_path: Path, clock) -> None:
    with open_run(tmp_path / "run") as run:
        for _ in range(30):
            step(run)
    followed = FollowedRun("run", tmp_path / "run", clock)
    before = news_for(followed)
    shutil.rmtree(tmp_path / "run")
    with open_run(tmp_path / "run") as run:
        step(run)
        after = news_for(followed, before)
    assert after["edition"] != before["edition"]
    assert after["pages"] == 1
    assert after["curve"]["whole"]
    assert len(after["last_pages"]) == 1


def test_a_journal_that_has_become_shorter_is_another_one(tmp_path: Path, clock) -> None:
    """A file may get the number of the one before it."""
    for name, count in (("run", 30), ("other", 1)):
        with open_run(tmp_path / name) as run:
            for _ in range(count):
                step(run)
        if name == "run":
            followed = FollowedRun("run", tmp_path / "run", clock)
            before = news_for(followed)
    for name in (JOURNAL, MARK):
        (tmp_path / "run" / name).write_bytes((tmp_path / "other" / name).read_bytes())
    after = news_for(followed, before)
    assert after["edition"] != before["edition"]
    assert after["pages"] == 1


def test_a_run_that_has_ended_or_was_killed_looks_the_same(tmp_path: Path, clock) -> None:
    with open_run(tmp_path / "run") as run:
        for _ in range(20):
            step(run)
        crawling = news_for(FollowedRun("run", tmp_path / "run", clock))
    stopped = news_for(FollowedRun("run", tmp_path / "run", clock))
    assert (crawling.pop("state"), stopped.pop("state")) == ("crawling", "stopped")
    for changing in ("changed", "edition"):
        crawling.pop(changing), stopped.pop(changing)
    assert crawling == stopped


def test_titles_of_the_web_are_harmless(run: OpenRun, clock) -> None:
    title = "<script>alert(1)</script>\x1b[2J\u202eevil\x00\n\ud800" + "x" * 5_000
    step(run, title)
    (page,) = news_for(FollowedRun("letters", run.directory, clock))["last_pages"]
    assert page["title"].isprintable()
    assert len(page["title"]) <= LONGEST
    assert page["title"].startswith("<script>alert(1)</script>\\x1b[2J\\u202eevil\\x00")


def test_of_a_long_run_little_is_kept(run: OpenRun, clock) -> None:
    for _ in range(LAST_PAGES + 60):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    followed.listed()
    assert len(followed.counts.last_pages) == LAST_PAGES
    assert followed._reader is not None
    assert followed._reader.pages == []


def test_a_damaged_run_says_so_without_its_path(tmp_path: Path, clock) -> None:
    with open_run(tmp_path / "run") as run:
        step(run)
    (tmp_path / "run" / "journal.db").write_bytes(b"no journal at all" * 100)
    listed = FollowedRun("run", tmp_path / "run", clock).listed()
    assert "damaged" in listed["problem"]
    assert str(tmp_path) not in listed["problem"]


def test_a_judgement_counts_at_once_and_only_what_it_changes_is_sent(run: OpenRun, clock) -> None:
    for _ in range(30):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    before = news_for(followed)
    page = next(page for page in before["last_pages"] if not page["relevant"])
    append_judgement(run.directory, Judgement(page["url"], True, page["step"], 0.1))
    clock.now += 100
    after = news_for(followed, before)
    assert after["edition"] == before["edition"]
    assert after["verdicts"] != before["verdicts"]
    assert after["relevant"] == before["relevant"] + 1
    assert after["harvest_rate"] > before["harvest_rate"]
    assert after["curve"]["whole"]
    assert after["curve"]["points"][-1].harvest == round(after["harvest_rate"], 4)
    (shown,) = [each for each in after["last_pages"] if each["step"] == page["step"]]
    assert (shown["relevant"], shown["relevance"], shown["judged_by"]) == (True, 1.0, "person")
    assert after["judgements"]["steps"] == {page["step"]: True}
    assert news_for(followed, after)["last_pages"] == []
    fresh = news_for(FollowedRun("letters", run.directory, clock))
    for key in ("relevant", "relevant_sites", "recent_rate", "histogram", "judgements", "pages"):
        assert after[key] == fresh[key]


def test_the_word_of_a_newer_model_counts(run: OpenRun, clock) -> None:
    for _ in range(30):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    before = news_for(followed)
    write_verdicts(run.directory, run.recorded.journal, "digest", [0.75] * before["pages"])
    clock.now += 100
    after = news_for(followed, before)
    assert after["relevant"] == after["pages"] == before["pages"] > before["relevant"]
    assert {page["relevance"] for page in after["last_pages"]} == {0.75}
    assert sum(after["histogram"]) == after["histogram"][15] == after["pages"]


def test_counting_again_may_take_only_a_part_of_the_time(run: OpenRun, clock) -> None:
    for _ in range(10):
        step(run)
    followed = FollowedRun("letters", run.directory, clock)
    first = news_for(followed)  # by this clock it took a while
    page = next(page for page in first["last_pages"] if not page["relevant"])
    append_judgement(run.directory, Judgement(page["url"], True, page["step"], 0.1))
    second = news_for(followed, first)
    assert second["relevant"] == first["relevant"]
    assert second["judgements"]["steps"] == {page["step"]: True}  # the browser shows it already
    clock.now += 100
    assert news_for(followed, second)["relevant"] == first["relevant"] + 1
