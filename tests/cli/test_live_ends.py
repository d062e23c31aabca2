"""How a live crawl ends, what can be done with it then, and what while it is going on."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.support.local_web import Answer, LocalWeb
from warcio.archiveiterator import ArchiveIterator

from tres.store.journal import JOURNAL, Journal
from tres.store.warc_writer import parts_of

from .conftest import Outcome, Tres
from .test_live import bees_and_markets, rows, run_tres, taught_topic, tres_command, url, wait_until


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    return taught_topic(tmp_path)


@pytest.mark.slow
def test_while_it_is_crawled_a_run_can_be_read_and_belongs_to_one_crawl_only(
    topic: Path, tmp_path: Path, tres: Tres
) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets(1200, seconds=0.1)) as web:
        command = ["crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 1190]
        with subprocess.Popen(tres_command(*command), stdout=subprocess.DEVNULL) as process:
            wait_until(lambda: len(web.urls) > 20, process)  # type: ignore[arg-type]
            exported = tres("export", run, "--to", "jsonl", "--out", tmp_path / "pages.jsonl")
            assert (exported.code, "warning" in exported.err) == (0, False)
            assert tres("tree", run).out.startswith("reward  fetched")
            busy = f"{run}: another tres is crawling there; wait until it has ended, or stop it"
            # in processes of their own: a reactor starts once, and other tests here need it
            for refused in (run_tres("resume", run), run_tres(*command, "--overwrite")):
                assert (refused.returncode, busy in refused.stderr) == (2, True)
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
    pages = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert len(pages) >= 15
    assert all(page["text"] for page in pages)
    with Journal.open(run / JOURNAL) as journal:
        fetched = [row["url"] for row in journal.pages()]
    assert [page["url"] for page in pages] == fetched[: len(pages)]
    killed_run_can_be_used(run, len(fetched), tres)


def killed_run_can_be_used(run: Path, pages: int, tres: Tres) -> None:
    packed = run.parent / "pages.warc.gz"
    assert tres("export", run, "--to", "warc", "--out", packed).code == 0
    records = list(ArchiveIterator(io.BytesIO(packed.read_bytes())))
    assert sum(record.rec_type == "response" for record in records) == pages
    assert tres("export", run, "--to", "parquet", "--out", run.parent / "pages.parquet").code == 0
    assert tres("tree", run).code == 0


@pytest.mark.slow
def test_seconds_are_those_of_all_stretches_and_labels_count(
    topic: Path, tmp_path: Path, tres: Tres, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets(100)) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 10)
        assert f"continue: tres resume {run} --pages 20" in ended.stdout
        first = json.loads((run / "summary.json").read_text())["seconds"]
        monkeypatch.setattr("sys.stdin", io.StringIO("y\nn\nq\n"))
        assert "trained again with 2 judgements" in tres("label", run).out
        assert run_tres("resume", run, "--pages", 14).returncode == 0
        again = json.loads((run / "summary.json").read_text())["seconds"]
        with Journal.open(run / JOURNAL) as journal:
            assert len({begin.model for begin in journal.segments()}) == 2
            assert first < journal.seconds() <= again
        assert parts_of(run)
        over = run_tres(
            "crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 3, "--overwrite"
        )
    assert over.returncode == 0, over.stderr
    (part,) = parts_of(run)
    with part.open("rb") as file:
        kept = [record.rec_type for record in ArchiveIterator(file)]
    assert kept.count("response") == len(rows(run)) == 3


@pytest.mark.slow
def test_a_first_signal_waits_for_a_slow_server_and_a_second_one_does_not(
    topic: Path, tmp_path: Path
) -> None:
    pages = bees_and_markets(60)
    pages |= {url(i): Answer("late", seconds=4.0) for i in range(1, 60)}
    for second in (False, True):
        run = tmp_path / f"run-{second}"
        with LocalWeb(pages) as web:
            command = ["crawl", topic, "--proxy", web.proxy, "--run", run, "--concurrency", 3]
            with subprocess.Popen(
                tres_command(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as process:
                wait_until(lambda web=web: len(web.urls) >= 3, process)  # type: ignore[misc]
                process.send_signal(signal.SIGTERM)
                if second:
                    time.sleep(1.5)  # two that wait together would be one
                    process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        assert f"continue: tres resume {run}" in (err if second else out)
        assert (process.returncode == 0) == (not second)
        with Journal.open(run / JOURNAL) as journal:
            outcomes = journal.steps() + sum(1 for _ in journal.failures())
        assert outcomes == (1 if second else len(web.urls))


BUG = """
import sys
from tres.cli import main
from tres.crawl.session import CrawlSession
settle = CrawlSession.receive
def faulty(self, url, outcome):
    if self.steps == 5:
        raise ZeroDivisionError("a bug")
    return settle(self, url, outcome)
CrawlSession.receive = faulty
main()
"""


@pytest.mark.slow
def test_a_bug_ends_the_crawl_with_a_whole_store_and_the_way_to_go_on(
    topic: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets(100)) as web:
        command = [*tres_command()[:1], "-c", BUG, "crawl", topic, "--proxy", web.proxy]
        ended = subprocess.run(
            [*map(str, command), "--run", str(run), "--pages", "12"],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert ended.returncode == 1
        assert "ZeroDivisionError: a bug" in ended.stderr
        assert f"the pages fetched so far are kept; continue: tres resume {run}" in ended.stderr
        again = run_tres("resume", run)
    assert again.returncode == 0, again.stderr
    assert len(rows(run)) == 12
    assert max(web.urls.count(each) for each in set(web.urls)) == 1
    failures = (run / "failures.csv").read_text().splitlines()[1:]
    assert [line.split(",")[1] for line in failures] == ["unreadable"]  # what the bug met


def test_a_status_that_no_database_holds_costs_one_page(topic: Path, tmp_path: Path) -> None:
    run, pages = tmp_path / "run", bees_and_markets(40)
    pages[url(5)] = Answer("<p>so many", status=2**63)
    with LocalWeb(pages) as web:
        command = ["crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 60]
        ended = run_tres(*command)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    (failed,) = [row for row in rows(run, "failures.csv") if row["url"] == url(5)]
    assert (failed["kind"], failed["note"]) == ("http-error", f"HTTP {2**63}")
    assert len(rows(run)) == 39


def test_a_directory_that_is_taken_is_told_before_anything_is_fetched(
    topic: Path, tmp_path: Path, tres: Tres
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").write_text("")
    nowhere = "http://127.0.0.1:9"
    ended: Outcome = tres("crawl", topic, "--proxy", nowhere, "--run", tmp_path / "run")
    assert (ended.code, "holds a run already; name another --run" in ended.err) == (2, True)
