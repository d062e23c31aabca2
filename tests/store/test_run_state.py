"""What a run is doing: the lock is the truth, whatever a file says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tres.errors import RunError
from tres.store.run_directory import STATE, SUMMARY, is_locked, lock_run
from tres.store.run_state import Doing, RunState, at_work, run_state, write_state


def test_while_it_is_crawled_it_says_by_whom_and_since_when(tmp_path: Path) -> None:
    with lock_run(tmp_path), at_work(tmp_path, clock=lambda: 12.5):
        assert run_state(tmp_path) == RunState(Doing.CRAWLING, os.getpid(), 12.5)
        write_state(tmp_path, Doing.PAUSED, clock=lambda: 13.5)
        assert run_state(tmp_path) == RunState(Doing.PAUSED, os.getpid(), 13.5)
        assert run_state(tmp_path).is_crawled
    assert run_state(tmp_path) == RunState(Doing.STOPPED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("stopped", "doing"),
    [
        ("budget", Doing.FINISHED),
        ("frontier-exhausted", Doing.FINISHED),
        ("no-seed-answered", Doing.FINISHED),
        ("interrupted", Doing.STOPPED),
    ],
)
def test_a_run_that_nobody_holds_is_what_its_summary_says(
    tmp_path: Path, stopped: str, doing: Doing
) -> None:
    (tmp_path / SUMMARY).write_text(json.dumps({"stopped": stopped}))
    assert run_state(tmp_path) == RunState(doing)
    with lock_run(tmp_path):
        assert run_state(tmp_path) == RunState(Doing.CRAWLING)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"stopped": 3}'])
def test_damaged_files_are_not_believed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / SUMMARY).write_bytes(content)
    (tmp_path / STATE).write_bytes(content)
    assert run_state(tmp_path) == RunState(Doing.STOPPED)
    with lock_run(tmp_path):
        assert run_state(tmp_path) == RunState(Doing.CRAWLING)


def test_what_is_no_directory_is_not_crawled(tmp_path: Path) -> None:
    assert run_state(tmp_path / "nowhere") == RunState(Doing.STOPPED)


HOLDER = """
import sys, time
from pathlib import Path
from tres.store.run_directory import lock_run
from tres.store.run_state import at_work
with lock_run(Path(sys.argv[1])), at_work(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_crawl_is_stopped_though_its_file_says_otherwise(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert run_state(tmp_path).pid == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / STATE).exists()
    assert run_state(tmp_path) == RunState(Doing.STOPPED)


def test_whoever_looks_does_not_keep_a_crawl_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of looks in a row: each holds the lock for a moment, and a claim succeeds."""
    # a moment is long on a busy machine
    monkeypatch.setattr("tres.store.run_directory.PATIENCE", 30.0)
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            is_locked(tmp_path)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(50):
            with lock_run(tmp_path):
                pass
    finally:
        ended.set()
        watcher.join()


def test_a_run_that_is_claimed_is_refused_after_some_moments(tmp_path: Path) -> None:
    before = time.monotonic()
    refused = pytest.raises(RunError, match="another tres is crawling")
    with lock_run(tmp_path), refused, lock_run(tmp_path):
        pass
    assert time.monotonic() - before >= 0.4
