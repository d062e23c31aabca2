"""What a run is doing now, as seen by other processes.

The process that crawls a run holds its lock (`store.run_lock`), which ends with the
process, and says in `state.json` whether it crawls or is paused. The lock decides: the file that a
killed crawl has left behind does not count, because nobody holds the lock. A run that nobody holds
is finished if its summary says so, and stopped otherwise.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tres.crawl.events import StopReason
from tres.files import opening as files
from tres.files.durable import replace_file
from tres.store.resume_hints import write_errors
from tres.store.run_directory import STATE, SUMMARY
from tres.store.run_lock import is_locked

_ENDS = frozenset(
    {
        StopReason.BUDGET,
        StopReason.REQUESTS,
        StopReason.FRONTIER_EXHAUSTED,
        StopReason.NO_SEED,
    }
)


class Doing(StrEnum):
    """What a run is doing."""

    CRAWLING = "crawling"
    PAUSED = "paused"
    FINISHED = "finished"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class RunState:
    """What a run is doing; by which process and since when (in seconds since the epoch)."""

    doing: Doing
    pid: int | None = None
    since: float | None = None

    @property
    def is_crawled(self) -> bool:
        """Whether a process crawls the run, which can take orders."""
        return self.doing in (Doing.CRAWLING, Doing.PAUSED)


@contextmanager
def at_work(run: Path, clock: Callable[[], float] = time.time) -> Iterator[None]:
    """Say that the run is being crawled, until the block ends."""
    with write_errors(run):
        write_state(run, Doing.CRAWLING, clock)
    try:
        yield
    finally:
        (run / STATE).unlink(missing_ok=True)


def write_state(run: Path, doing: Doing, clock: Callable[[], float] = time.time) -> None:
    """Write what the run is doing; only the holder of its lock may."""
    state = {"doing": doing, "pid": os.getpid(), "since": clock()}
    replace_file(run / STATE, json.dumps(state).encode(), durable=False)


def run_state(run: Path) -> RunState:
    """What a run is doing now; asking does not disturb the crawl."""
    if not is_locked(run):
        finished = _read_object(run / SUMMARY).get("stopped") in _ENDS
        return RunState(Doing.FINISHED if finished else Doing.STOPPED)
    state = _read_object(run / STATE)
    paused = state.get("doing") == Doing.PAUSED
    pid, since = state.get("pid"), state.get("since")
    return RunState(
        Doing.PAUSED if paused else Doing.CRAWLING,
        pid if isinstance(pid, int) else None,
        since if isinstance(since, float) else None,
    )


def _read_object(file: Path) -> dict[str, Any]:
    """The object in a small JSON file; empty if it cannot be read, or is just being replaced."""
    try:
        value = json.loads(files.content(file))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
