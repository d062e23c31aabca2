"""A crawl that is told to stop writes what it has and says why it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from tests.support.webs import start

from tres.cli.crawl import report_stop
from tres.engines.stop_signals import interrupt_sessions
from tres.errors import RunError
from tres.store.journal import JOURNAL, Journal


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_crawl_with_a_complete_run_directory(
    tmp_path: Path, kind: signal.Signals
) -> None:
    topic = tmp_path / "topic.toml"
    topic.write_text(
        '[topic]\nkeywords = ["star"]\nseeds = ["http://placeholder.example/"]\n'
        '[training]\nlabels = ["astronomy"]\n[crawl]\npages = 100000\n'
    )
    run = tmp_path / "run"
    seed = subprocess.run(
        [sys.executable, "-c", "from tres.offline.generated.generator import GeneratedWeb as W;"
         "print(W(5000, 1).seeds('astronomy', 1)[0])"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    command = ["-m", "tres", "crawl", str(topic), "--web", "generated:pages=5000,seed=1"]
    with subprocess.Popen(
        [sys.executable, *command, "--run", str(run), "--seed-url", seed],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_pages(run, process)
        process.send_signal(kind)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped: interrupted" in out
    summary = json.loads((run / "summary.json").read_text())
    assert summary["stopped"] == "interrupted"
    assert 0 < summary["pages"] == len((run / "pages.csv").read_text().splitlines()) - 1


def test_a_signal_that_comes_before_the_session_counts() -> None:
    """While a long journal is read there is no session to interrupt yet."""
    session = start({}, ["a/1"])
    with interrupt_sessions() as started:
        os.kill(os.getpid(), signal.SIGTERM)
        started(session)
    assert session.interrupted


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once_and_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: signal.Signals
) -> None:
    (tmp_path / JOURNAL).touch()

    def stopped_twice() -> None:
        with report_stop(tmp_path), interrupt_sessions():
            os.kill(os.getpid(), kind)
            os.kill(os.getpid(), kind)

    with pytest.raises(click.exceptions.Exit) as ended:
        stopped_twice()
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err.endswith(f"continue: tres resume {tmp_path}\n")


READS_LONG = """
import time
from tres.engines.scrapy.live_loop import run_live

async def main(live):
    print("reading", flush=True)
    time.sleep(600)

try:
    run_live(main)
except KeyboardInterrupt:
    print("stopped at once")
"""


def test_two_signals_while_a_long_journal_is_read_stop_at_once() -> None:
    """The loop of a live crawl cannot act on them: it reads."""
    command = [sys.executable, "-c", READS_LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)  # two of a kind might be heard as one
        assert process.communicate(timeout=60)[0] == "stopped at once\n"


def wait_for_pages(
    run: Path, process: subprocess.Popen[str], pages: int = 30, seconds: float = 60.0
) -> None:
    """Until the crawl has written some pages; a crawl that ended by itself is no test."""
    deadline = time.monotonic() + seconds
    while steps_of(run) < pages:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the crawl never got under way"
        time.sleep(0.05)


def steps_of(run: Path) -> int:
    """Pages in the journal, read while the crawl writes it."""
    try:
        with Journal.open(run / JOURNAL) as journal:
            return journal.steps()
    except RunError:
        return 0  # it has not begun
