"""`tres label --ask`: a language model judges pages of a run, or of a topic before its crawl."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from tests.support.chat_server import ChatServer, Question, chatting, error, honey
from tests.support.local_web import LocalWeb

from tres.relevance.examples import JUDGED_WEIGHT, TAUGHT_WEIGHT, Examples
from tres.relevance.model_kinds import load_model
from tres.runs import labelling
from tres.store.judgements import read_judgements, read_judges

from .conftest import TOPIC, Label, Outcome, Tres
from .test_crawl import rows_of
from .test_label import judgements
from .test_live import AUTO, LIVE, bees_and_markets, run_tres, tres_command

KEY = "sk-a-very-secret-key"


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", 15).code == 0
    return path


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with chatting() as server:
        yield server


@pytest.fixture
def ask(tres: Tres, chat: ChatServer) -> Tres:
    """Have the server judge."""
    return lambda place, *rest: tres("label", place, "--ask", chat.url, "--model", "tiny", *rest)


def test_the_candidates_are_judged_marked_and_learnt_from(
    ask: Tres, run: Path, chat: ChatServer
) -> None:
    before = load_model(run / "model").digest
    outcome = ask(run)
    assert outcome.code == 0, outcome.err
    kept = judgements(run)
    assert {row["url"] for row in rows_of(run)} == set(chat.pages)
    assert [line["by"] for line in kept] == ["teacher"] * 15
    assert all(line["reason"] == f"honey: {line['relevant']}" for line in kept)
    yes = sum(bool(line["relevant"]) for line in kept)
    assert f"tiny judged 15 of 15 pages: {yes} relevant, {15 - yes} not\n" in outcome.out
    assert "15 answers by calls; 1,500 tokens in, 150 out\n" in outcome.out
    assert "with 15 judgements (15 by a teacher)\n" in outcome.out
    assert load_model(run / "model").digest != before


def test_the_pages_are_those_that_a_person_would_see_in_the_same_order(
    label: Label, ask: Tres, run: Path, chat: ChatServer
) -> None:
    shown = re.findall(r"^  (http\S+)$", label(run, "s\n" * 5, "--show", 5).out, re.MULTILINE)
    ask(run, "--calls", 5, "--parallel", 1)
    assert chat.pages == shown
    assert [line["url"] for line in judgements(run)] == shown


def test_equal_answers_give_the_same_file_and_the_same_model_however_parallel(
    tres: Tres, ask: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    results = []
    for parallel in (1, 8):
        run = tmp_path / f"run-{parallel}"
        tres("crawl", topic, "--web", archive, "--run", run, "--pages", 15)
        ask(run, "--parallel", parallel, "--calls", 12)
        results.append(((run / "judgements.jsonl").read_bytes(), load_model(run / "model").digest))
    assert results[0] == results[1]


def test_disagreements_are_shown_with_the_reason_and_agreement_is_counted(
    ask: Tres, run: Path, chat: ChatServer
) -> None:
    chat.judge = lambda question: '{"relevant": false, "reason": "A \\u001b[2Jshop."}'
    outcome = ask(run)
    bees = [row["url"] for row in rows_of(run) if row["reward"] == "1"]
    others = 15 - len(bees)
    assert bees
    assert f"the model agrees on {others} of 15 pages ({others / 15:.0%})" in outcome.out
    lines = outcome.out.splitlines()
    place = lines.index("model  teacher    page")
    shown = [line.split()[-1] for line in lines[place + 1 : place + 1 + 2 * len(bees) : 2]]
    assert sorted(shown) == sorted(bees)
    assert lines[place + 1].split()[1] == "not"
    assert lines[place + 2].strip() == "A [2Jshop."
    assert "\x1b" not in outcome.out


def test_the_model_follows_its_teacher(ask: Tres, run: Path, chat: ChatServer) -> None:
    chat.judge = lambda question: '{"relevant": false, "reason": "no"}'
    ask(run)
    before, after = load_model(run / "model-1"), load_model(run / "model")
    text = ["bees honey hive"]
    assert after.probabilities(text)[0] < before.probabilities(text)[0]


def test_prices_give_the_cost(ask: Tres, run: Path) -> None:
    out = ask(run, "--price-in", 2, "--price-out", 10).out
    assert "1,500 tokens in, 150 out; cost 0.0045\n" in out


def test_the_description_is_part_of_the_question(
    tres: Tres, ask: Tres, topic: Path, archive: Path, tmp_path: Path, chat: ChatServer
) -> None:
    about = 'description = "Keeping bees."\nkeywords'
    topic.write_text(TOPIC.replace("keywords", about, 1))
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 5)
    assert "note: topic.description" not in ask(run, "--calls", 1).err
    assert "Description: Keeping bees.\n" in chat.questions[0].prompt
    ask(run, "--calls", 1, "--description", "Selling bees.")
    assert "Description: Selling bees.\n" in chat.questions[1].prompt


def test_without_a_description_a_note_says_what_to_do(ask: Tres, run: Path) -> None:
    assert "note: topic.description is empty; a sentence there" in ask(run, "--calls", 1).err


def test_a_persons_word_stands_whatever_a_teacher_says(
    tres: Tres, ask: Tres, run: Path, chat: ChatServer
) -> None:
    (run / "judgements.jsonl").write_text(
        json.dumps({"url": rows_of(run)[0]["url"], "relevant": False}) + "\n"
    )
    chat.judge = lambda question: '{"relevant": true, "reason": ""}'
    ask(run)
    first = rows_of(run)[0]["url"]
    assert first not in chat.pages  # what a person has judged needs no teacher
    assert read_judgements(run)[first] is False
    assert sorted(set(read_judges(run).values())) == ["person", "teacher"]


def test_of_two_pages_with_the_same_text_the_one_that_a_person_has_judged_counts(
    tres: Tres, ask: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in archive.read_text().splitlines()]
    twin = {"title": records[0]["title"], "text": records[0]["text"]}
    archive.write_text("\n".join(map(json.dumps, [*records[:3], records[3] | twin, *records[4:]])))
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 15)
    assert {records[0]["url"], records[3]["url"]} <= {row["url"] for row in rows_of(run)}
    (run / "judgements.jsonl").write_text(
        json.dumps({"url": records[0]["url"], "relevant": False}) + "\n"
    )
    assert "with 14 judgements (13 by a teacher)\n" in ask(run).out  # not of the twin


def test_a_teachers_example_weighs_between_a_guess_and_a_persons(
    ask: Tres, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Examples] = []

    def train(kind: str, examples: Examples, *rest: object) -> object:
        seen.append(examples)
        return trained(kind, examples, *rest)  # type: ignore[arg-type]

    trained = labelling.train_model
    monkeypatch.setattr(labelling, "train_model", train)
    person = rows_of(run)[0]["url"]
    (run / "judgements.jsonl").write_text(json.dumps({"url": person, "relevant": True}) + "\n")
    assert ask(run, "--calls", 4).code == 0
    weights = list(seen[0].weights or ())
    assert 1.0 < TAUGHT_WEIGHT < JUDGED_WEIGHT
    assert weights[-5:] == [TAUGHT_WEIGHT] * 4 + [JUDGED_WEIGHT]


def test_pages_that_a_teacher_has_judged_are_not_offered_again(
    label: Label, ask: Tres, run: Path, chat: ChatServer
) -> None:
    ask(run, "--calls", 10)
    assert "(1 of 5)" in label(run, "q\n", "--show", 100).out
    ask(run, "--calls", 10)
    assert len(chat.pages) == len(set(chat.pages)) == 15
    assert "no page was judged; the model has not changed" in ask(run).out


def test_a_key_is_sent_and_appears_nowhere(
    ask: Tres, run: Path, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    said = json.dumps({"relevant": True, "reason": f"because of {KEY}"})

    def judge(question: Question) -> str | bytes:
        if question.request.headers["Authorization"] != f"Bearer {KEY}":
            return error("401 Unauthorized", "no key")
        return said if len(chat.questions) < 10 else error("403 Forbidden", f"not for {KEY}")

    chat.judge = judge
    outcome = ask(run, "--key-env", "MY_KEY", "--parallel", 1)
    assert outcome.code == 3
    assert "HTTP 403: not for [key]" in outcome.err
    assert len(judgements(run)) == 9
    kept = b"".join(file.read_bytes() for file in run.rglob("*") if file.is_file())
    assert KEY not in outcome.out + outcome.err
    assert KEY.encode() not in kept
    assert b"because of [key]" in kept


def test_a_refusal_names_the_endpoint_keeps_what_was_said_and_costs_nothing_again(
    ask: Tres, run: Path, chat: ChatServer
) -> None:
    before = load_model(run / "model").digest
    chat.judge = lambda q: honey(q) if len(chat.questions) < 6 else error("402 Pay", "no money")
    outcome = ask(run, "--parallel", 1)
    assert outcome.code == 3
    assert outcome.err.endswith(
        f"tres: {chat.url}/chat/completions: HTTP 402: no money; the answers so far are kept; "
        "run the command again to go on\n"
    )
    assert "tiny judged 5 of 5 pages" in outcome.out
    assert load_model(run / "model").digest == before
    chat.judge = honey
    assert ask(run).code == 0
    assert len(chat.pages) == 16  # one was refused
    assert len(judgements(run)) == 15


def test_where_nothing_listens_the_message_says_so(tres: Tres, run: Path) -> None:
    with chatting() as gone:
        pass
    outcome = tres("label", run, "--ask", gone.url, "--model", "tiny")
    assert outcome.code == 3
    assert f"{gone.url}/chat/completions: no connection (Connection refused)" in outcome.err


def test_answers_without_a_verdict_are_counted_and_teach_nothing(
    ask: Tres, run: Path, chat: ChatServer
) -> None:
    bad = rows_of(run)[3]["url"]
    chat.judge = lambda q: "Certainly!" if q.page["url"] == bad else honey(q)
    outcome = ask(run)
    assert "tiny judged 14 of 15 pages" in outcome.out
    assert "1 answer without a verdict, asked for twice\n" in outcome.out
    assert bad not in read_judgements(run)


@pytest.mark.slow
def test_after_a_kill_no_answer_is_paid_for_again(run: Path, chat: ChatServer) -> None:
    stuck, over = Event(), Event()

    def judge(question: Question) -> str:
        if len(chat.questions) > 7:
            stuck.set()
            over.wait()
        return honey(question)

    chat.judge = judge
    arguments = ("label", run, "--ask", chat.url, "--model", "tiny", "--parallel", 2)
    with subprocess.Popen(tres_command(*arguments), stdout=subprocess.DEVNULL) as process:
        assert stuck.wait(60)
        os.kill(process.pid, signal.SIGKILL)
    over.set()
    answered = len((run / "teacher.jsonl").read_text().splitlines())
    assert answered >= 6
    paid = len(chat.questions)
    ended = run_tres(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert len(chat.questions) - paid == 15 - answered
    assert len(judgements(run)) == len(read_judgements(run)) == 15


@pytest.mark.slow
def test_an_interrupt_ends_the_asking_and_what_was_said_is_learnt(
    run: Path, chat: ChatServer
) -> None:
    stuck, over = Event(), Event()

    def judge(question: Question) -> str:
        if len(chat.questions) > 6:
            stuck.set()
            over.wait()
        return honey(question)

    chat.judge = judge
    arguments = ("label", run, "--ask", chat.url, "--model", "tiny", "--parallel", 1)
    with subprocess.Popen(
        tres_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert stuck.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)  # although nobody has answered
    over.set()
    assert process.returncode == 0, err
    assert "stopped; the answers so far are kept" in err
    assert "with 6 judgements (6 by a teacher)" in out


# Before a crawl


def example_files(directory: Path) -> list[list[dict[str, str]]]:
    files = (directory / "relevant.jsonl", directory / "other.jsonl")
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


@pytest.fixture
def auto(topic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A topic without examples, in the current directory."""
    labels = 'labels = ["Nature"]\nrelevant = 10\nirrelevant = 20\n'
    topic.write_text(TOPIC.replace(labels, 'model = "auto"\n'))
    monkeypatch.chdir(tmp_path)
    return topic


@pytest.mark.parametrize("option", ["--web", "--pages"])
def test_pages_of_an_archive_become_examples_that_the_topic_file_can_name(
    tres: Tres, ask: Tres, auto: Path, archive: Path, chat: ChatServer, option: str
) -> None:
    outcome = ask("bees.toml", option, archive, "--calls", 30, "--parallel", 1)
    assert outcome.code == 0, outcome.err
    yes, no = example_files(Path("examples/bees"))
    assert len(yes) + len(no) == len(chat.pages) == 30
    assert chat.pages[0] == "http://site0.example/page/0"  # the seed
    assert all("honey" in row["text"] for row in yes)
    assert not any("honey" in row["text"] for row in no)
    assert len(yes) >= 8  # more than one in six of a random choice
    assert {(row["by"], row["model"]) for row in yes + no} == {("teacher", "tiny")}
    lines = outcome.out.splitlines()[-2:]
    assert lines == [
        'positives = "examples/bees/relevant.jsonl"',
        'negatives = "examples/bees/other.jsonl"',
    ]
    auto.write_text(auto.read_text().replace("[crawl]", "\n".join([*lines, "[crawl]"])))
    assert tres("crawl", auto, "--web", archive, "--run", "run").code == 0
    rewards = [row["reward"] for row in rows_of(Path("run"))]
    assert rewards.count("1") >= 15  # of 20 that there are


def test_a_second_start_pays_for_nothing_and_gives_the_same_files(
    ask: Tres, auto: Path, archive: Path, chat: ChatServer
) -> None:
    ask(auto, "--web", archive, "--calls", 20)
    first = [file.read_bytes() for file in sorted(Path("examples/bees").glob("*.jsonl"))]
    outcome = ask(auto, "--web", archive, "--calls", 20, "--overwrite")
    assert "no answers by calls (20 answers were known)" in outcome.out
    assert len(chat.questions) == 20
    assert first == [file.read_bytes() for file in sorted(Path("examples/bees").glob("*.jsonl"))]


def test_examples_that_somebody_may_have_corrected_are_not_replaced_by_accident(
    ask: Tres, auto: Path, archive: Path, chat: ChatServer
) -> None:
    Path("mine").mkdir()
    Path("mine/relevant.jsonl").write_text("my own\n")
    outcome = ask(auto, "--web", archive, "--out", "mine")
    assert (outcome.code, outcome.err) == (
        2, "tres: mine: holds examples already; name another --out, or add --overwrite\n"
    )  # fmt: skip
    assert chat.questions == []
    assert Path("mine/relevant.jsonl").read_text() == "my own\n"


def test_examples_of_one_kind_only_are_said_to_be_too_few(
    ask: Tres, auto: Path, archive: Path, chat: ChatServer
) -> None:
    chat.judge = lambda question: '{"relevant": false}'
    outcome = ask(auto, "--web", archive, "--calls", 3)
    assert outcome.code == 0
    assert outcome.out.endswith(
        "a model needs pages of both kinds; make more --calls, or name other seeds\n"
    )


def test_with_labels_in_the_topic_file_the_lines_go_in_their_place(
    ask: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    outcome = ask(topic, "--web", archive, "--calls", 9, "--out", tmp_path / "new")
    assert "instead of labels:\n" in outcome.out


@pytest.mark.slow
def test_on_the_live_web_the_seeds_and_pages_near_them_are_fetched_once(
    tmp_path: Path, chat: ChatServer
) -> None:
    topic, out = tmp_path / "bees.toml", tmp_path / "examples"
    with LocalWeb(bees_and_markets()) as web:
        topic.write_text(AUTO + LIVE + f'proxy = "{web.proxy}"\n')
        call = ("--ask", chat.url, "--model", "tiny", "--calls", 12, "--out", out, "--parallel", 1)
        first = run_tres("label", topic, *call)
        assert first.returncode == 0, first.stderr
        fetched = [url for url in web.urls if not url.endswith("robots.txt")]
        second = run_tres("label", topic, *call, "--overwrite", "--description", "Bees.")
        assert second.returncode == 0, second.stderr
        assert [url for url in web.urls if not url.endswith("robots.txt")] == fetched
    assert len(fetched) == len(set(fetched)) == 12
    assert chat.pages[:12] == chat.pages[12:]  # another question about the same pages
    assert sorted(chat.pages[:12]) == sorted(fetched)
    yes, no = example_files(out)
    assert yes
    assert len(yes) + len(no) == 12


# Options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--model", "tiny"], "--model goes with --ask; say by --ask who judges"),
        (["run", "--calls", "5"], "--calls goes with --ask; say by --ask who judges"),
        (["bees.toml"], "bees.toml: is a topic file; name a run, or who judges by --ask"),
        (["run", "--ask", "URL"], "--model is missing: name the language model to ask"),
        (["run", "--ask", "URL", "--model", "m", "--show", "3"],
         "--show goes without --ask; limit what a model is asked by --calls"),
        (["run", "--ask", "URL", "--model", "m", "--out", "x"],
         "--out goes with a topic file; leave it out, or name a topic"),
        (["bees.toml", "--ask", "URL", "--model", "m", "--web", "a", "--pages", "b"],
         "--web and --pages both say which pages to judge; leave one out"),
        (["run", "--ask", "localhost:1", "--model", "m"],
         "--ask must be an http or https address without user name and password, such as "
         "http://localhost:11434/v1"),
        (["run", "--ask", "URL", "--model", "m", "--key-env", "NOT_SET"],
         "--key-env: the environment variable NOT_SET is not set; export it"),
        (["none.toml", "--ask", "URL", "--model", "m"],
         "none.toml: no such file; check the path ('tres init' writes a topic file)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_one_line(
    tres: Tres,
    run: Path,
    chat: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(run.parent)
    outcome: Outcome = tres("label", *(chat.url if a == "URL" else a for a in arguments))
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == f"tres: {message}"
    assert chat.questions == []
