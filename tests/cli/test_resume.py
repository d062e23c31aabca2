"""`tres resume`: the crawl that goes on is the crawl that was never stopped."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tres.store.run_directory import lock_run, write_config

from .conftest import TOPIC, Tres, url
from .test_crawl import rows_of
from .test_interrupt import wait_for_pages


def lines(run: Path) -> list[str]:
    return (run / "pages.csv").read_text().splitlines()


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    """A crawl of twelve pages."""
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", 12).code == 0
    return path


@pytest.mark.parametrize("policy", ["tres", "tree-random", "random", "parent"])
def test_a_raised_budget_gives_the_crawl_that_had_it_from_the_start(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, policy: str
) -> None:
    short, whole = tmp_path / "short", tmp_path / "whole"
    for run, pages in ((short, 12), (whole, 30)):
        arguments = ("crawl", topic, "--web", archive, "--run", run, "--pages", pages)
        assert tres(*arguments, "--policy", policy).code == 0
    outcome = tres("resume", short, "--pages", 30)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("30 pages, ")
    for name in ("pages.csv", "failures.csv", "tree.json", "config.toml"):
        if (whole / name).exists():
            assert (short / name).read_bytes() == (whole / name).read_bytes(), name
    summaries = [json.loads((run / "summary.json").read_text()) for run in (short, whole)]
    for summary in summaries:
        del summary["seconds"], summary["checksum"]
    assert summaries[0] == summaries[1]


def test_a_run_of_an_earlier_version_names_settings_that_are_retired(tres: Tres, run: Path) -> None:
    config = (run / "config.toml").read_text().partition("# checksum: ")[0]
    write_config(run, config.replace("[training]\n", "[training]\neight_bit = false\n"))
    outcome = tres("resume", run, "--pages", 20)

    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("20 pages, ")
    assert "eight_bit" not in (run / "config.toml").read_text()


@pytest.mark.parametrize("in_flight", [1, 4])
def test_it_can_be_taken_up_again_and_again(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, in_flight: int
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 9, "--concurrency", in_flight,
         "--max-per-site", "8..3")  # fmt: skip
    for pages in (10, 17, 25):
        before = lines(run)
        outcome = tres("resume", run, "--pages", pages)
        assert outcome.code == 0, outcome.err
        assert lines(run)[: len(before)] == before
        assert len(rows_of(run)) == json.loads((run / "summary.json").read_text())["pages"]
    assert len(rows_of(run)) > 17


@pytest.mark.parametrize("lost", ["pages.csv", "failures.csv", "tree.json", "summary.json"])
def test_what_is_derived_from_the_journal_is_derived_again(
    tres: Tres, run: Path, lost: str
) -> None:
    before = (run / lost).read_bytes()
    (run / lost).write_text("half a li")
    (run / "summary.json").unlink()
    assert tres("resume", run).code == 0
    if lost != "summary.json":
        assert (run / lost).read_bytes() == before


@pytest.mark.parametrize("in_flight", ["1", "5"])
def test_an_interrupted_crawl_goes_on_byte_for_byte(tmp_path: Path, in_flight: str) -> None:
    seed = subprocess.run(
        [sys.executable, "-c", "from tres.offline.generated.generator import GeneratedWeb as W;"
         "print(W(2000, 1).seeds('astronomy', 1)[0])"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    topic = tmp_path / "topic.toml"
    topic.write_text(
        f'[topic]\nkeywords = ["star"]\nseeds = ["{seed}"]\n'
        f'[training]\nlabels = ["astronomy"]\n[crawl]\npages = 900\nin_flight = {in_flight}\n'
    )
    crawl = [sys.executable, "-m", "tres", "crawl", str(topic), "--web", "generated:pages=2000"]
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    with subprocess.Popen(
        [*crawl, "--run", str(stopped)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_pages(stopped, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.endswith(f"continue: tres resume {stopped}\n")
    assert len(lines(stopped)) < 901
    for command in ([*crawl, "--run", str(whole)], [*crawl[:3], "resume", str(stopped)]):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "stopped: budget" in done.stdout
    for name in ("pages.csv", "failures.csv", "tree.json"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_finished_run_needs_a_larger_budget(tres: Tres, run: Path) -> None:
    before = (run / "pages.csv").read_bytes()
    for arguments, budget in (((), 12), (("--pages", 5), 5)):
        outcome = tres("resume", run, *arguments)
        assert (outcome.code, outcome.err) == (
            2, f"tres: {run}: has fetched 12 of {budget} pages; "
               "to go on, give more than 12 with --pages\n",
        )  # fmt: skip
    assert (run / "pages.csv").read_bytes() == before


def test_what_was_fetched_is_never_fetched_again(tres: Tres, archive: Path, run: Path) -> None:
    """The journal knows every page: of the web only pages to come are needed."""
    before = lines(run)
    fetched = {row["url"] for row in rows_of(run)}
    left = [
        line for line in archive.read_text().splitlines() if json.loads(line)["url"] not in fetched
    ]
    archive.write_text("\n".join(left))
    outcome = tres("resume", run, "--pages", 20)
    assert outcome.code == 0, outcome.err
    assert lines(run)[: len(before)] == before
    assert len(lines(run)) == 21


def test_a_web_that_has_moved_is_named_with_an_option(
    tres: Tres, archive: Path, run: Path, tmp_path: Path
) -> None:
    moved = archive.rename(tmp_path / "elsewhere.jsonl")
    outcome = tres("resume", run, "--pages", 14)
    assert outcome.err == f"tres: {archive}: no such file; check the path given as the web\n"
    assert tres("resume", run, "--pages", 14, "--web", moved).code == 0


def test_what_cannot_be_taken_up_is_refused(tres: Tres, run: Path, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    assert tres("resume", missing)[::2] == (
        2, f"tres: {missing}: no such run directory; name one that 'tres crawl' has written\n"
    )  # fmt: skip
    journal = run / "journal.db"
    content = journal.read_bytes()
    journal.write_text("{" * 1000)
    outcome = tres("resume", run, "--pages", 20)
    assert outcome.code == 2
    assert outcome.err == (
        f"tres: {journal}: damaged (file is not a database); put back a copy of it, or run the "
        "crawl again\n"
    )
    journal.unlink()
    assert tres("resume", run, "--pages", 20).err == (
        f"tres: {run}: there is no journal.db; name a run that this version of tres has crawled, "
        "or run the crawl again with --overwrite\n"
    )
    journal.write_bytes(content)
    assert tres("resume", run, "--pages", 20).code == 0


def test_a_damaged_snapshot_is_named_and_does_no_harm(tres: Tres, run: Path) -> None:
    (run / "snapshot.bin").write_bytes(b"\x1b[2J")
    outcome = tres("resume", run, "--pages", 14)
    assert (outcome.code, outcome.err) == (
        0, f"tres: {run}/snapshot.bin: not used (it is not a snapshot of this version of tres); "
           "the journal is read from its start instead\n",
    )  # fmt: skip
    assert len(rows_of(run)) == 14


def test_two_crawls_do_not_write_to_one_run(tres: Tres, run: Path) -> None:
    with lock_run(run):
        outcome = tres("resume", run, "--pages", 20)
    assert (outcome.code, outcome.err) == (
        2, f"tres: {run}: another tres is crawling there; wait until it has ended, or stop it\n"
    )  # fmt: skip
    assert tres("resume", run, "--pages", 20).code == 0


def test_the_oracle_goes_on_with_what_it_foresaw(
    tres: Tres, topic: Path, archive: Path, run: Path, tmp_path: Path
) -> None:
    oracle = tmp_path / "oracle"
    tres("crawl", topic, "--web", archive, "--run", oracle, "--pages", 9, "--policy", "oracle")
    other = tmp_path / "other"
    topic.write_text(TOPIC.replace("relevant = 10", "relevant = 5"))
    tres("crawl", topic, "--web", archive, "--run", other, "--seed-url", url(3))
    (oracle / "model").rename(oracle / "model-1")
    shutil.copytree(other / "model", oracle / "model")
    assert tres("resume", oracle, "--pages", 12).code == 0
    shutil.rmtree(oracle / "model-1")
    outcome = tres("resume", oracle, "--pages", 20)
    assert outcome.code == 2
    assert "that judged some of its pages is gone; put its directory back" in outcome.err


def test_a_budget_of_requests_is_told_and_raised(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "few"
    first = tres("crawl", topic, "--web", archive, "--run", run, "--requests", 7)
    assert "stopped: requests" in first.out
    assert f"continue: tres resume {run} --requests 14" in first.out
    second = tres("resume", run, "--requests", 9)
    assert "stopped: requests" in second.out
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["requests"], summary["stopped"]) == (9, "requests")
    assert "requests = 9" in (run / "config.toml").read_text()
