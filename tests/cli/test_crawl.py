"""`tres crawl`: what it writes, what it says, and how it refuses."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tres.cli.crawl import report
from tres.settings.policy_names import POLICIES
from tres.settings.topic_file import load_topic

from .conftest import TOPIC, Tres, url


def rows_of(run: Path) -> list[dict[str, str]]:
    with (run / "pages.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_crawl_leaves_a_run_directory_that_agrees_with_itself(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    outcome = tres("crawl", topic, "--web", archive, "--run", run)
    assert outcome.code == 0, outcome.err
    summary = json.loads((run / "summary.json").read_text())
    rows = rows_of(run)
    assert [row["step"] for row in rows] == [str(step) for step in range(1, 31)]
    assert summary["pages"] == len(rows) == 30
    assert summary["relevant"] == sum(row["reward"] == "1" for row in rows)
    assert summary["harvest_rate"] == summary["relevant"] / summary["pages"]
    assert summary["relevant_sites"] == len({r["site"] for r in rows if r["reward"] == "1"})
    assert summary["failures"] == {"http-404": len((run / "failures.csv").read_text().split()) - 1}
    assert summary["stopped"] == "budget"
    assert (summary["policy"], summary["features"], summary["seed"]) == ("tres", "evidence", 1)
    assert summary["frontier"] > 0
    assert summary["seconds"] > 0
    assert len({row["url"] for row in rows}) == 30
    assert rows[0]["url"] == url(0)
    assert rows[0]["parent"] == ""
    fetched = {row["url"] for row in rows}
    assert all(row["parent"] in fetched for row in rows[1:])
    assert all(0 <= float(row["anchor_relevance_max"]) <= 1 for row in rows)


def test_the_kept_configuration_repeats_the_crawl(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    tres("crawl", topic, "--web", archive, "--run", first, "--seed", 5, "--max-per-site", "6")
    kept = first / "config.toml"
    assert tomllib.loads(kept.read_text())["crawl"]["seed"] == 5
    assert load_topic(kept).crawl.max_per_site.at(0, 30) == 6
    assert tres("crawl", kept, "--web", archive, "--run", second).code == 0
    assert (first / "pages.csv").read_bytes() == (second / "pages.csv").read_bytes()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert (
            tres(
                "crawl",
                topic,
                "--web",
                archive,
                "--run",
                tmp_path / name,
                "--seed",
                seed,
                "--policy",
                "random",
            ).code
            == 0
        )
    a, b, c = ((tmp_path / name / "pages.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_crawls_and_stays_below_the_cap(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, policy: str
) -> None:
    run = tmp_path / "run"
    outcome = tres(
        "crawl",
        topic,
        "--web",
        archive,
        "--run",
        run,
        "--policy",
        policy,
        "--max-per-site",
        "4",
        "--concurrency",
        "3",
    )
    assert outcome.code == 0, outcome.err
    sites = [row["site"] for row in rows_of(run)]
    assert max(map(sites.count, sites)) <= 4
    assert "frontier-exhausted" in outcome.out  # six sites of four pages are no thirty pages
    assert json.loads((run / "summary.json").read_text())["stopped"] == "frontier-exhausted"


def test_options_replace_what_the_topic_file_says(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    outcome = tres(
        "crawl",
        topic,
        "--web",
        archive,
        "--run",
        run,
        "--pages",
        7,
        "--features",
        "paper",
        "--seed-url",
        url(4),
        "--seed-url",
        url(9),
    )
    assert outcome.code == 0
    rows = rows_of(run)
    assert [row["url"] for row in rows][:2] == [url(4), url(9)]
    assert len(rows) == 7
    assert "inverse_distance" in rows[0]
    assert "citations" not in rows[0]


def test_a_saved_model_is_used_instead_of_training(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    trained, loaded = tmp_path / "trained", tmp_path / "loaded"
    tres("crawl", topic, "--web", archive, "--run", trained)
    text = TOPIC.replace('labels = ["Nature"]', 'load = "trained/model"')
    (tmp_path / "loaded.toml").write_text(text)
    assert tres("crawl", tmp_path / "loaded.toml", "--web", archive, "--run", loaded).code == 0
    assert (trained / "pages.csv").read_bytes() == (loaded / "pages.csv").read_bytes()


def test_nothing_but_the_result_is_printed_where_nobody_looks(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")
    assert outcome.err == ""
    assert outcome.out.startswith("30 pages, ")
    assert "\x1b" not in outcome.out


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("pages = 30", "pagse = 30"),
         2, "tres: {file}: unknown setting crawl.pagse; did you mean crawl.pages?"),
        (("pages = 30", 'pages = "many"'),
         2, "tres: {file}: crawl.pages must be a whole number of at least 1, not 'many'"),
        (('labels = ["Nature"]', 'load = "nowhere"'),
         2, "tres: {file}: training.load names {dir}/nowhere, which does not exist"),
        (('labels = ["Nature"]', 'labels = ["Natur"]'),
         2, "Natur"),
    ],
)  # fmt: skip
def test_what_the_user_can_put_right_is_told_in_one_line(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path,
    change: tuple[str, str], code: int, message: str,
) -> None:  # fmt: skip
    topic.write_text(TOPIC.replace(*change))
    outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")
    assert outcome.code == code
    assert message.format(file=topic, dir=tmp_path) in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_when_no_seed_answers_each_is_told_and_the_exit_code_is_3(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    gone, foreign = "http://site0.example/page/777", "http://elsewhere.example/"
    outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run",
                   "--seed-url", gone, "--seed-url", foreign)  # fmt: skip
    assert outcome.code == 3
    assert outcome.out == ""
    assert outcome.err.splitlines() == [
        f"tres: seed {gone}: http-404",
        f"tres: seed {foreign}: http-404",
        "tres: none of the 2 seeds gave a page; name seeds that this web holds",
    ]


def test_nothing_is_started_when_the_configuration_is_wrong(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run", "--policy", "tress")
    assert outcome.code == 2
    assert "crawl.policy must be one of tres, " in outcome.err
    assert not (tmp_path / "run").exists()


def test_a_crawl_without_a_seed_is_refused(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    topic.write_text(TOPIC.replace('seeds = ["http://site0.example/page/0"]', ""))
    assert tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")[::2] == (
        2, "tres: topic.seeds: a crawl needs a seed; name one there or with --seed-url\n"
    )  # fmt: skip


def test_a_run_is_not_overwritten_unless_asked(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", run).code == 0
    before = (run / "pages.csv").read_bytes()
    again = tres("crawl", topic, "--web", archive, "--run", run, "--pages", 5)
    assert again.code == 2
    assert again.err == (
        f"tres: {run}: holds a run already; name another --run, or add --overwrite\n"
    )
    assert (run / "pages.csv").read_bytes() == before
    assert (
        tres("crawl", topic, "--web", archive, "--run", run, "--overwrite", "--pages", 5).code == 0
    )
    assert len(rows_of(run)) == 5


@pytest.mark.parametrize("left", ["state.json", "config.toml.part", "journal.mark", "model"])
def test_a_start_that_was_killed_at_once_can_be_begun_anew(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, left: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / left).mkdir() if left == "model" else (run / left).write_text("{")
    command = ("crawl", topic, "--web", archive, "--run", run, "--pages", 5)
    assert "holds a run already" in tres(*command).err
    assert tres(*command, "--overwrite").code == 0
    assert len(rows_of(run)) == 5


def test_half_a_configuration_is_refused(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", run, "--pages", 5).code == 0
    config = run / "config.toml"
    lines = config.read_text().splitlines(keepends=True)
    for changed in (lines[: len(lines) // 2], lines[:-1], ["[crawl]\npages = 7\n", *lines]):
        config.write_text("".join(changed))
        refused = tres("resume", run, "--pages", 6)
        assert refused.code == 2
        assert f"{config}: damaged, or changed by hand; put back a copy of it" in refused.err
    config.write_text("".join(lines[:-1]).replace("seed = 1", "seed =  1"))
    (line,) = re.findall(r"'(# checksum: \w+)'", tres("resume", run, "--pages", 6).err)
    config.write_text(config.read_text() + line + "\n")
    assert tres("resume", run, "--pages", 6).code == 0


def test_other_peoples_files_are_never_overwritten(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    outcome = tres("crawl", topic, "--web", archive, "--run", precious, "--overwrite")
    assert outcome.code == 2
    assert "holds other files" in outcome.err
    assert [file.name for file in precious.iterdir()] == ["thesis.txt"]


def test_control_characters_of_the_web_never_reach_the_terminal(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    outcome = tres("crawl", topic, "--web", "web\x1b[2J.jsonl", "--run", tmp_path / "run")
    assert outcome.code == 2
    assert "\x1b" not in outcome.err
    assert "web\\x1b[2J.jsonl" in outcome.err


def test_the_language_of_each_page_is_noted_and_a_page_without_text_is_never_relevant(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in archive.read_text().splitlines()]
    german = "Die Bienen sind nicht nur im Garten, sie leben auch mit den Menschen auf dem Dach."
    records[3]["text"] = german
    for number in (1, 6, 9):  # one of them was about markets, two about bees
        records[number] |= {"title": "", "text": ""}
    archive.write_text("\n".join(map(json.dumps, records)))
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 60, "--policy", "breadth-first")
    rows = {row["url"]: row for row in rows_of(run)}
    assert rows[url(3)]["language"] == "de"
    for number in (1, 6, 9):
        assert rows[url(number)]["language"] == ""
        assert rows[url(number)]["reward"] == "0"
        assert 0 < float(rows[url(number)]["relevance"]) < 0.5


@pytest.mark.parametrize(
    ("pages", "relevant", "sites", "line"),
    [
        (0, 0, 0, "no pages in 1.5 s"),
        (1, 0, 0, "1 page, none relevant, in 1.5 s"),
        (2, 1, 1, "2 pages, 1 relevant (50.0%) on 1 site, in 1.5 s"),
    ],
)
def test_the_result_counts_pages_in_words_that_fit(
    capsys: pytest.CaptureFixture[str], pages: int, relevant: int, sites: int, line: str
) -> None:
    rate = relevant / max(pages, 1)
    summary = {"pages": pages, "relevant": relevant, "relevant_sites": sites}
    summary |= {"harvest_rate": rate, "failures": {}, "frontier": 0}
    report(SimpleNamespace(summary=summary, stopped="x", seconds=1.5), Path("run"), None)
    assert capsys.readouterr().out.splitlines()[0] == line
