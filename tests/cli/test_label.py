"""`tres label`: what it shows, what it keeps, and what a resumed crawl makes of it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import sys
import termios
import time
from pathlib import Path
from typing import Any

import click
import pytest

from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model, train_model
from tres.store.journal import JOURNAL, Journal
from tres.store.model_versions import place_of
from tres.store.orders import Adopt, take
from tres.store.run_directory import lock_run

from .conftest import Label, Tres
from .test_crawl import rows_of


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", 15).code == 0
    return path


def judgements(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "judgements.jsonl").read_text().splitlines()]


def test_judgements_are_kept_in_order_and_the_model_is_trained_anew(
    label: Label, run: Path
) -> None:
    before = load_model(run / "model").digest
    outcome = label(run, "y\nperhaps\nno\ns\nYES\nq\n", "--show", 10)
    assert outcome.code == 0, outcome.err
    assert [kept["relevant"] for kept in judgements(run)] == [True, False, True]
    assert outcome.out.count("relevant? ") == 6  # one answer was none, and was asked for again
    assert "the model was trained again with 3 judgements\n" in outcome.out
    assert outcome.out.endswith(f"continue with it: tres resume {run} --pages N\n")
    assert load_model(run / "model-1").digest == before != load_model(run / "model").digest


def test_the_new_model_learns_of_what_site_each_example_is(
    label: Label, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[Examples] = []

    def spy(kind: str, examples: Examples, *rest: Any) -> RelevanceModel:
        learnt.append(examples)
        return train_model(kind, examples, *rest)

    monkeypatch.setattr("tres.runs.labelling.train_model", spy)
    assert label(run, "y\nn\nq\n").code == 0

    (examples,) = learnt
    numbers = [re.search(r"page number (\d+)", text) for text in examples.texts]
    assert examples.sites == tuple(f"site{int(each[1]) % 6}.example" for each in numbers if each)


def test_pages_come_with_title_address_text_and_probability(label: Label, run: Path) -> None:
    outcome = label(run, "q\n")
    rows = rows_of(run)
    unsure = min(rows, key=lambda row: abs(float(row["relevance"]) - 0.5))
    shown = outcome.out.splitlines()
    assert shown[1].startswith("(1 of 15) ")
    assert shown[2] == f"  {unsure['url']}"
    assert f"probability {float(unsure['relevance']):.2f}; step {unsure['step']}" in shown[3]
    number = unsure["url"].rpartition("/")[2]
    assert f"page number {number} of the example" in " ".join(" ".join(shown[4:]).split())


def test_the_page_that_led_to_most_is_shown_second(label: Label, run: Path) -> None:
    outcome = label(run, "s\nq\n")
    parents = [row["parent"] for row in rows_of(run) if row["parent"]]
    most = max(parents, key=parents.count)
    assert f"  {most}\n" in outcome.out
    assert f"{parents.count(most)} pages were fetched from its links" in outcome.out


def test_the_part_about_the_topic_is_shown_wrapped_at_words(
    tres: Tres, label: Label, topic: Path, archive: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in archive.read_text().splitlines()]
    long = [r | {"text": "menu entry " * 200 + r["text"] + " end" * 200} for r in records]
    archive.write_text("\n".join(map(json.dumps, long)))
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 15)
    shown = label(run, "s\n" * 15).out
    assert "… menu" in shown
    assert "page number" in shown  # which stands behind 2,200 characters of menu
    assert max(map(len, shown.splitlines())) <= 80
    assert set(shown.split()) & {"men", "entr", "pag", "numbe"} == set()


def test_back_shows_the_page_before_and_the_last_word_counts(label: Label, run: Path) -> None:
    outcome = label(run, "y\nb\nn\nn\nq\n")
    first, again, second = judgements(run)
    assert first["url"] == again["url"] != second["url"]
    assert [kept["relevant"] for kept in (first, again, second)] == [True, False, False]
    assert outcome.out.count("(1 of 15)") == 2
    assert "  you said yes" in outcome.out
    assert "the model was trained again with 2 judgements" in outcome.out


def test_a_page_is_opened_in_a_browser_and_asked_about_again(
    label: Label, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", opened.append)
    outcome = label(run, "o\ny\nq\n")
    assert opened == [kept["url"] for kept in judgements(run)]
    assert outcome.out.count("(1 of 15)") == 1


def test_on_a_terminal_single_keys_answer_and_the_topics_words_are_marked(run: Path) -> None:
    command = [sys.executable, "-m", "tres", "label", str(run), "--show", "3"]
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, command, {**os.environ, "TERM": "xterm", "COLUMNS": "80"})
    seen = _seen(terminal, "uit: ")
    for key in "yn":
        _press(terminal, key)
        seen += _seen(terminal, "uit: ")
    _press(terminal, "q")
    seen += _seen(terminal, "--pages N")
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)
    assert [kept["relevant"] for kept in judgements(run)] == [True, False]
    assert re.search(r"\x1b\[1;4m\w+\x1b\[0m", seen)


def _press(terminal: int, key: str) -> None:
    """Press a key as soon as single keys are read; what is typed before that is thrown away."""
    while termios.tcgetattr(terminal)[3] & termios.ICANON:
        time.sleep(0.01)
    os.write(terminal, key.encode())


def _seen(terminal: int, last: str) -> str:
    """What a terminal shows, up to some words."""
    seen = ""
    while last not in seen:
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096).decode()
    return seen


def test_nothing_is_asked_twice_and_the_end_of_the_input_is_the_end(
    label: Label, run: Path
) -> None:
    label(run, "n\n" * 6)
    label(run, "y\n" * 100, "--show", 100)
    urls = [kept["url"] for kept in judgements(run)]
    assert len(urls) == len(set(urls)) == 15
    assert "no page was judged; the model has not changed" in label(run, "y\n").out


def test_without_a_judgement_nothing_changes(label: Label, run: Path) -> None:
    files = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    assert label(run, "").code == 0
    assert files == {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}


def test_a_judged_page_is_believed(label: Label, run: Path) -> None:
    label(run, "n\n" * 15)
    model = load_model(run / "model")
    urls = {str(kept["url"]) for kept in judgements(run)}
    bees = [row for row in rows_of(run) if row["reward"] == "1" and row["url"] in urls]
    assert bees
    before = load_model(run / "model-1").probabilities(["bees honey hive"])[0]
    assert model.probabilities(["bees honey hive"])[0] < before


JUDGED = ("relevance", "relevant", "judged_by")


def decisions_of(run: Path) -> list[dict[str, str]]:
    """What the crawl did, whatever was said of its pages since."""
    return [{key: cell for key, cell in row.items() if key not in JUDGED} for row in rows_of(run)]


def test_judgements_change_a_resumed_crawl_from_then_on_and_only_then(
    tres: Tres, label: Label, topic: Path, archive: Path, run: Path, tmp_path: Path
) -> None:
    label(run, "n\n" * 15)
    before = decisions_of(run)
    outcome = tres("resume", run, "--pages", 30)
    assert outcome.code == 0, outcome.err
    untouched = tmp_path / "untouched"
    tres("crawl", topic, "--web", archive, "--run", untouched, "--pages", 30)
    after = rows_of(run)
    assert decisions_of(run)[:15] == before == decisions_of(untouched)[:15]
    assert len(after) == 30
    new, pages = load_model(run / "model"), _contents(archive)
    for row in after[15:]:
        assert float(row["relevance"]) == pytest.approx(
            float(new.probabilities([pages[row["url"]]])[0]), rel=1e-5
        )
    assert [r["relevance"] for r in after[15:]] != [r["relevance"] for r in rows_of(untouched)[15:]]
    assert len(judgements(run)) == 15
    # The judged crawl can be judged and taken up again.
    after = decisions_of(run)
    label(run, "y\ny\n")
    assert tres("resume", run, "--pages", 35).code == 0
    assert decisions_of(run)[:30] == after


def _contents(archive: Path) -> dict[str, str]:
    records = [json.loads(line) for line in archive.read_text().splitlines()]
    return {record["url"]: f"{record['title']}\n{record['text']}" for record in records}


def test_hostile_titles_and_texts_are_escaped(
    tres: Tres, label: Label, topic: Path, archive: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in archive.read_text().splitlines()]
    evil = [r | {"title": "\x1b[2J" + r["title"], "text": "\x07" + r["text"]} for r in records]
    archive.write_text("\n".join(map(json.dumps, evil)))
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run)
    outcome = label(run, "s\ns\n")
    assert "\x1b" not in outcome.out
    assert "\x07" not in outcome.out
    assert "\\x1b[2J" in outcome.out


@pytest.mark.parametrize("line", ["{", "[]", '{"url": "http://a/"}', '{"url": 1, "relevant": 1}'])
def test_a_damaged_judgements_file_is_named_with_the_line(
    label: Label, run: Path, line: str
) -> None:
    label(run, "y\n")
    with (run / "judgements.jsonl").open("a") as file:
        file.write(f"{line}\n")
    outcome = label(run, "y\n")
    assert outcome.code == 2
    assert outcome.err == (
        f"tres: {run}/judgements.jsonl: line 2 is damaged; correct or remove the line\n"
    )


def test_a_crawl_that_was_killed_can_be_judged_and_taken_up(
    tres: Tres, label: Label, run: Path
) -> None:
    before = decisions_of(run)
    for name in ("pages.csv", "failures.csv", "tree.json", "summary.json"):
        (run / name).unlink()
    assert label(run, "y\nn\n").code == 0
    assert len(judgements(run)) == 2
    assert tres("resume", run, "--pages", 20).code == 0
    assert decisions_of(run)[:15] == before


def test_a_change_of_models_that_was_cut_off_is_completed(
    tres: Tres, label: Label, run: Path
) -> None:
    label(run, "y\nn\n")
    newest = load_model(run / "model").digest
    (run / "model").rename(run / "model-next")
    assert tres("resume", run, "--pages", 20).code == 0
    assert load_model(run / "model").digest == newest


def test_a_run_without_pages_cannot_be_judged(label: Label, run: Path) -> None:
    with Journal.open(run / JOURNAL, to_write=True) as journal:
        journal.rewind(3)  # behind its seeds and its budget
    outcome = label(run, "y\n")
    assert (outcome.code, outcome.err) == (
        2, f"tres: {run}: has no page to judge; run the crawl again\n"
    )  # fmt: skip


def test_a_loaded_model_can_be_corrected_too(
    tres: Tres, label: Label, topic: Path, archive: Path, run: Path, tmp_path: Path
) -> None:
    topic.write_text(topic.read_text().replace('labels = ["Nature"]', 'load = "run/model"'))
    second = tmp_path / "second"
    assert tres("crawl", topic, "--web", archive, "--run", second).code == 0
    outcome = label(second, "y\nn\ny\n")
    assert outcome.code == 0, outcome.err
    assert "3 judgements and 27 guesses" in outcome.out


def test_judgements_of_one_class_only_are_kept_but_cannot_train(
    tres: Tres, label: Label, topic: Path, archive: Path, run: Path, tmp_path: Path
) -> None:
    topic.write_text(topic.read_text().replace('labels = ["Nature"]', 'load = "run/model"'))
    second = tmp_path / "second"
    tres("crawl", topic, "--web", archive, "--run", second)
    before = load_model(second / "model").digest
    outcome = label(second, "n\n" * 30, "--show", 30)
    assert (outcome.code, outcome.err) == (
        2, "tres: none of the 30 example pages is relevant; a model needs relevant and irrelevant "
           "ones; judge more pages; your judgements are kept\n",
    )  # fmt: skip
    assert len(judgements(second)) == 30
    assert load_model(second / "model").digest == before


def test_while_the_run_is_crawled_its_crawl_is_told_and_the_model_stays_until_then(
    label: Label, run: Path
) -> None:
    before = load_model(run / "model").digest
    with lock_run(run):
        outcome = label(run, "y\nn\nq\n")
    assert outcome.code == 0
    assert "the running crawl will judge by it" in outcome.out
    assert load_model(run / "model").digest == before
    (letter,) = take(run)
    assert isinstance(letter.order, Adopt)
    assert load_model(place_of(run, letter.order.model)).digest == letter.order.model != before


def test_a_model_that_nobody_has_adopted_is_overtaken_by_the_next(
    tres: Tres, label: Label, run: Path
) -> None:
    with lock_run(run):
        label(run, "y\nn\nq\n")
    assert "trained again with 3 judgements" in label(run, "y\nq\n").out
    newest = load_model(run / "model").digest
    assert list(take(run)) == []
    assert tres("resume", run, "--pages", 20).code == 0
    assert load_model(run / "model").digest == newest


def test_a_model_that_was_left_for_a_crawl_is_adopted_by_the_next_one(
    tres: Tres, label: Label, run: Path
) -> None:
    before = load_model(run / "model").digest
    with lock_run(run):
        label(run, "n\n" * 15)
    (letter,) = take(run)
    assert tres("resume", run, "--pages", 20).code == 0
    assert letter.order == Adopt(load_model(run / "model").digest)
    assert load_model(run / "model-1").digest == before
    with Journal.open(run / JOURNAL) as journal:
        assert journal.segments()[-1].model == letter.order.model
