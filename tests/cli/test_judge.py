"""`tres judge`: a filter for any pages, and a second look at the pages of a run."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.local_web import LocalWeb

import tres as tres_library
from tres.relevance.model_kinds import load_model
from tres.runs import judge_rows
from tres.store.judgements import Judgement, append_judgement
from tres.store.run_directory import lock_run

from .conftest import Label, Outcome, Tres
from .test_crawl import rows_of
from .test_live import bees_and_markets, run_tres, taught_topic

PAGES = 15
BEES = {"url": "http://a.example/", "title": "Bees", "text": "honey bee hive nectar queen swarm"}
BONDS = {"url": "http://b.example/", "title": "Bonds", "text": "stock market price bond share"}

Write = Callable[..., Path]


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", PAGES).code == 0
    return path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write pages to a file; a string is a line as it is."""

    def to_file(*rows: object, name: str = "pages.jsonl") -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        data = "".join(f"{line}\n" for line in lines).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return to_file


def judged(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


def files(run: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}


def exported(tres: Tres, run: Path, *more: object) -> list[dict[str, Any]]:
    return judged(tres("export", run, "--to", "jsonl", *more))


class TestAFile:
    def test_gets_one_line_per_row_in_order(self, tres: Tres, run: Path, write: Write) -> None:
        outcome = tres("judge", run, write(BEES, BONDS, "", BEES))
        lines = judged(outcome)
        assert [list(line) for line in lines] == [["url", "probability", "relevant"]] * 3
        assert [line["url"] for line in lines] == [BEES["url"], BONDS["url"], BEES["url"]]
        assert [line["relevant"] for line in lines] == [True, False, True]
        assert lines[0]["probability"] > 0.5 > lines[1]["probability"]
        assert outcome.err == "2 of the 3 pages are relevant\n"

    def test_of_a_crawl_gets_the_answers_of_the_crawl(
        self, tres: Tres, run: Path, archive: Path
    ) -> None:
        lines = {line["url"]: line for line in judged(tres("judge", run, archive))}
        assert len(lines) == 60
        for row in rows_of(run):
            line = lines[row["url"]]
            assert line["probability"] == pytest.approx(float(row["relevance"]), abs=1e-6)
            assert line["relevant"] == (row["reward"] == "1")

    def test_may_hold_markup_which_is_read_as_in_a_crawl(
        self, tres: Tres, run: Path, write: Write
    ) -> None:
        menu = f"<nav>{BONDS['text'] * 20}</nav><script>{BONDS['text'] * 20}</script>"
        html = f"<html><title>Bees</title>{menu}<p>{BEES['text']}</p></html>"
        marked = {"url": BEES["url"], "html": html}
        plain, read = judged(tres("judge", run, write(BEES, marked)))
        assert read == plain

    def test_may_be_judged_by_a_model_without_a_run(
        self, tres: Tres, topic: Path, archive: Path, tmp_path: Path, write: Write
    ) -> None:
        model = tmp_path / "model"
        assert tres("train", topic, "--web", archive, "--out", model).code == 0
        line, _ = judged(tres("judge", model, write(BEES, BONDS)))
        chance = load_model(model).probabilities([f"{BEES['title']}\n{BEES['text']}"])[0]
        assert line["probability"] == pytest.approx(float(chance), abs=1e-6)

    def test_may_be_gzipped(self, tres: Tres, run: Path, write: Write) -> None:
        plain = tres("judge", run, write(BEES, BONDS)).out
        assert tres("judge", run, write(BEES, BONDS, name="pages.jsonl.gz")).out == plain

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_may_be_standard_input(
        self,
        tres: Tres,
        run: Path,
        write: Write,
        monkeypatch: pytest.MonkeyPatch,
        pack: Callable[[bytes], bytes],
    ) -> None:
        path = write(BEES, BONDS)
        piped = io.BufferedReader(io.BytesIO(pack(path.read_bytes())))  # type: ignore[arg-type]
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        assert tres("judge", run, "-").out == tres("judge", run, path).out

    def test_may_be_empty(self, tres: Tres, run: Path, write: Write) -> None:
        outcome = tres("judge", run, write())
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "no pages\n")

    def test_is_read_a_few_rows_at_a_time(
        self, tres: Tres, run: Path, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one_by_one = [line for _ in range(7) for line in judged(tres("judge", run, write(BEES)))]
        monkeypatch.setattr(judge_rows, "BATCH", 3)
        assert judged(tres("judge", run, write(*[BEES] * 7))) == one_by_one

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("{", "is not JSON"),
            ('{"text": "bees"}', "has no `url`"),
            ('{"url": "http://a.example/", "text": 5}', "`text` is not a string"),
            ('{"url": "http://a.example/", "title": "Bees"}', "has neither `text` nor `html`"),
        ],
    )
    def test_with_a_bad_row_is_judged_up_to_there(
        self, tres: Tres, run: Path, write: Write, line: str, problem: str
    ) -> None:
        path = write(BEES, BONDS, line, BEES)
        outcome = tres("judge", run, path)
        assert outcome.code == 2
        assert outcome.err == f"tres: {path}: line 3 {problem}; correct or remove the line\n"
        assert outcome.out.count("\n") == 2

    def test_with_markup_that_no_crawl_reads_has_rows_without_a_probability(
        self, tres: Tres, run: Path, write: Write
    ) -> None:
        binary = {"url": "http://c.example/", "html": "\x00\x01\x02\x03" * 500}
        outcome = tres("judge", run, write(binary, BEES))
        assert judged(outcome)[0] == {
            "url": "http://c.example/",
            "probability": None,
            "relevant": False,
        }
        assert "warning: 1 page has unreadable html" in outcome.err

    def test_may_name_pages_as_it_likes(self, tres: Tres, run: Path, write: Write) -> None:
        names = ["doc-17", "ftp://files.example/a", "é\u2028\ud800"]
        rows = [BEES | {"url": name, "html": "<a href='/b'>b</a>"} for name in names]
        outcome = tres("judge", run, write(*rows))
        assert [line["url"] for line in judged(outcome)] == names
        assert outcome.out.isascii()

    def test_must_be_there(self, tres: Tres, run: Path, tmp_path: Path) -> None:
        outcome = tres("judge", run, tmp_path / "none.jsonl")
        assert outcome.code == 2
        assert "none.jsonl: no such file; name a file of JSON lines, or -" in outcome.err

    def test_must_be_whole(self, tres: Tres, run: Path, write: Write) -> None:
        path = write(BEES, BONDS, name="pages.jsonl.gz")
        path.write_bytes(path.read_bytes()[:-20])
        outcome = tres("judge", run, path)
        assert outcome.code == 2
        assert "copy or download it again" in outcome.err

    def test_changes_nothing_in_a_run(self, tres: Tres, run: Path, write: Write) -> None:
        before = files(run)
        tres("judge", run, write(BEES))
        assert files(run) == before

    def test_takes_no_web(self, tres: Tres, run: Path, write: Write, archive: Path) -> None:
        outcome = tres("judge", run, write(BEES), "--web", archive)
        assert outcome.code == 2
        assert "leave it out" in outcome.err


class TestARun:
    def test_that_nobody_judged_looks_as_before(self, tres: Tres, run: Path) -> None:
        """Its files have no word about judges, and agree with the journal."""
        rows = rows_of(run)
        assert not {"relevant", "judged_by"} & set(rows[0])
        assert "judged_by" not in json.loads((run / "summary.json").read_text())
        assert "judged by" not in tres("report", run, "--no-html").out

    def test_judged_by_the_model_of_then_keeps_its_verdicts(self, tres: Tres, run: Path) -> None:
        old = json.loads((run / "summary.json").read_text())
        outcome = tres("judge", run)
        assert outcome.code == 0, outcome.err
        assert outcome.out.startswith("the newest model changes no verdict\n")
        new = json.loads((run / "summary.json").read_text())
        for key in ("relevant", "harvest_rate", "relevant_sites", "pages"):
            assert new[key] == old[key]
        assert new["judged_by"] == {"model": PAGES}

    def test_judged_twice_is_the_same_byte_for_byte(self, tres: Tres, run: Path) -> None:
        tres("judge", run)
        before = files(run)
        assert tres("judge", run).code == 0
        assert files(run) == before

    def test_has_rows_that_say_who_judged_and_what_was_earned(self, tres: Tres, run: Path) -> None:
        for row in rows_of(run)[: PAGES - 3]:
            line = Judgement(row["url"], False, int(row["step"]), 0.5)
            append_judgement(run, line)
        rewards = [row["reward"] for row in rows_of(run)]
        assert tres("judge", run).code == 0
        rows = rows_of(run)
        assert [row["reward"] for row in rows] == rewards
        assert {row["relevant"] for row in rows[: PAGES - 3]} == {"0"}
        assert {row["judged_by"] for row in rows[: PAGES - 3]} == {"person"}
        assert {row["judged_by"] for row in rows[PAGES - 3 :]} == {"model"}

    @pytest.fixture
    def newer(self, label: Label, run: Path) -> None:
        """A newer model than that of the crawl, by which no page is judged yet."""
        assert label(run, "n\n" * 6 + "q\n").code == 0
        (run / "verdicts.json").unlink()

    @pytest.mark.usefixtures("newer")
    def test_whose_web_has_moved_needs_it(
        self, tres: Tres, run: Path, archive: Path, tmp_path: Path
    ) -> None:
        moved = archive.rename(tmp_path / "moved.jsonl")
        before = files(run)
        outcome = tres("judge", run)
        assert outcome.code == 2
        assert outcome.err.endswith("(if the web has moved, give it with --web)\n")
        assert files(run) == before
        assert tres("judge", run, "--web", moved).code == 0

    def test_whose_web_has_moved_does_not_need_it_for_its_own_model(
        self, tres: Tres, run: Path, archive: Path
    ) -> None:
        archive.unlink()
        assert tres("judge", run).out.startswith("the newest model changes no verdict\n")

    @pytest.mark.usefixtures("newer")
    def test_none_of_whose_pages_is_there_is_refused(
        self, tres: Tres, run: Path, write: Write
    ) -> None:
        outcome = tres("judge", run, "--web", write(BEES))
        assert outcome.code == 2
        assert "none of its pages can be read; give their web with --web" in outcome.err
        assert not (run / "verdicts.json").exists()

    def test_that_is_being_crawled_is_left_alone(self, tres: Tres, run: Path) -> None:
        before = files(run)
        with lock_run(run):
            outcome = tres("judge", run)
        assert outcome.code == 2
        assert "another tres is crawling there" in outcome.err
        assert files(run) == before

    def test_is_not_a_model(self, tres: Tres, run: Path, tmp_path: Path) -> None:
        outcome = tres("judge", run / "model")
        assert outcome.code == 2
        assert "is a model; name the pages to judge as well" in outcome.err
        assert tres("judge", tmp_path / "nowhere").code == 2


class TestWhatAPersonSaid:
    """One page was judged against the model: everything that is handed out says what he said."""

    @pytest.fixture
    def lost(self, run: Path) -> str:
        """A relevant page that a person judged not to be."""
        row = next(row for row in rows_of(run) if row["reward"] == "1")
        append_judgement(run, Judgement(row["url"], False, int(row["step"]), 0.9))
        return row["url"]

    @pytest.fixture
    def found(self, run: Path) -> str:
        """The other way round."""
        row = next(row for row in rows_of(run) if row["reward"] == "0")
        append_judgement(run, Judgement(row["url"], True, int(row["step"]), 0.1))
        return row["url"]

    def test_is_in_every_export(self, tres: Tres, run: Path, lost: str, found: str) -> None:
        pages = {page["url"]: page for page in exported(tres, run)}
        names = ("relevant", "relevance", "judged_by", "reward")
        assert [pages[found][name] for name in names] == [True, 1.0, "person", 0]
        assert [pages[lost][name] for name in names] == [False, 0.0, "person", 1]
        relevant = {page["url"] for page in exported(tres, run, "--relevant")}
        assert found in relevant
        assert lost not in relevant
        urls = tres("export", run, "--to", "urls", "--min-relevance", 0.99).out.split()
        assert found in urls
        table = csv.DictReader(io.StringIO(tres("export", run, "--to", "csv").out))
        cells = {row["url"]: (row["relevant"], row["judged_by"]) for row in table}
        assert (cells[found], cells[lost]) == (("1", "person"), ("0", "person"))

    def test_is_in_summary_and_pages_once_the_run_is_judged(
        self, tres: Tres, run: Path, lost: str, found: str
    ) -> None:
        before = json.loads((run / "summary.json").read_text())
        tres("judge", run)
        after = json.loads((run / "summary.json").read_text())
        assert after["relevant"] == before["relevant"]  # one more, one less
        assert after["judged_by"] == {"model": PAGES - 2, "person": 2}
        cells = {row["url"]: row for row in rows_of(run)}
        assert (cells[found]["relevant"], cells[found]["reward"]) == ("1", "0")
        assert (cells[lost]["relevant"], cells[lost]["reward"]) == ("0", "1")

    def test_is_in_the_explanation(self, tres: Tres, run: Path, lost: str, found: str) -> None:
        given = {row["url"]: float(row["relevance"]) for row in rows_of(run)}
        for url, relevant in ((found, "relevant"), (lost, "not relevant")):
            said = " ".join(tres("explain", run, url).out.split())
            gave = f"the model gave it {given[url]:.2f} when it was fetched."
            assert f"You judged it {relevant}; {gave}" in said
        assert given[found] < 0.5 <= given[lost]

    def test_is_in_the_report(self, tres: Tres, run: Path, found: str) -> None:
        relevant = sum(row["reward"] == "1" for row in rows_of(run))
        shown = tres("report", run, "--no-html").out
        assert re.search(rf"relevant pages +{relevant + 1}\b", shown)
        assert f"a person: 1, the model when fetched: {PAGES - 1}" in shown

    def test_is_in_the_page_of_the_report(self, tres: Tres, run: Path, lost: str) -> None:
        relevant = sum(row["reward"] == "1" for row in rows_of(run))
        tres("report", run)
        page = (run / "report.html").read_text()
        data = json.loads(page.partition('id="all-pages">')[2].partition("</script>")[0])
        step = next(int(row["step"]) for row in rows_of(run) if row["url"] == lost)
        assert data["judged"] == {str(step): "you said so"}
        assert data["relevant"][step - 1] == "0"
        assert data["relevance"][step - 1] == 0
        assert "<small>you said so</small>" in page
        assert f"{relevant - 1} relevant pages on" in page

    def test_is_what_a_comparison_of_runs_counts(
        self, tres: Tres, run: Path, topic: Path, archive: Path, tmp_path: Path, lost: str
    ) -> None:
        other = tmp_path / "other"
        tres("crawl", topic, "--web", archive, "--run", other, "--pages", PAGES)
        shown = tres("report", other, run, "--no-html").out
        relevant = sum(row["reward"] == "1" for row in rows_of(run))
        assert re.search(rf"relevant pages +{relevant} +{relevant - 1}\b", shown)

    def test_is_what_a_program_gets(self, run: Path, lost: str, found: str) -> None:
        crawled = tres_library.Run(run)
        pages = {page.url: page for page in crawled.pages}
        for url, relevant in ((found, True), (lost, False)):
            assert (pages[url].relevant, pages[url].relevance) == (relevant, float(relevant))
            assert (pages[url].reward, pages[url].judged_by) == (not relevant, "person")
        assert crawled.summary is not None
        assert crawled.summary["relevant"] == crawled.relevant
        append_judgement(run, Judgement(lost, True, pages[lost].step, 0.9))
        crawled.refresh()
        assert crawled.pages[pages[lost].step - 1].relevant
        assert crawled.summary["relevant"] == crawled.relevant
        assert crawled.relevant == sum(page.reward for page in crawled.pages) + 1


def test_labelling_shows_its_effect_at_once(tres: Tres, label: Label, run: Path) -> None:
    journal = (run / "journal.db").read_bytes()
    rewards = [row["reward"] for row in rows_of(run)]
    outcome = label(run, "n\n" * 6 + "q\n")
    assert outcome.code == 0, outcome.err
    assert re.search(r"\d+ of the 15 pages (is|are) relevant\n", outcome.out)
    rows = rows_of(run)
    summary = json.loads((run / "summary.json").read_text())
    assert [row["judged_by"] for row in rows].count("person") == 6
    assert summary["judged_by"] == {"model": PAGES - 6, "person": 6}
    assert summary["relevant"] == sum(row["relevant"] == "1" for row in rows)
    assert summary["relevant"] < rewards.count("1")
    assert [row["reward"] for row in rows] == rewards
    assert (run / "journal.db").read_bytes() == journal
    model = load_model(run / "model")
    assert json.loads((run / "verdicts.json").read_text())["model"] == model.digest
    written = files(run)
    assert tres("judge", run).out.startswith("the newest model changes no verdict\n")
    assert files(run) == written
    newest = next(row for row in rows if row["judged_by"] == "model")
    said = " ".join(tres("explain", run, newest["step"]).out.split())
    assert "It was judged again by a newer model; the model gave it" in said
    assert "Model 2 of the run's 2 judged it." in said


@pytest.mark.slow
def test_a_live_run_is_judged_from_its_own_files(tres: Tres, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets()) as web:
        crawl = ("crawl", taught_topic(tmp_path), "--proxy", web.proxy, "--run", run)
        done = run_tres(*crawl, "--pages", 12)
        assert done.returncode == 0, done.stderr
    outcome = tres("judge", run)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("the newest model changes no verdict\n")
    chances = json.loads((run / "verdicts.json").read_text())["probabilities"]
    assert chances == pytest.approx([float(row["relevance"]) for row in rows_of(run)], rel=1e-5)
