"""What a run is doing now, as seen by other processes.

The process that crawls a run holds its lock (`store.run_directory`), which ends with the
process, and says in `state.json` whether it crawls or is paused. The lock decides: the file that a
killed crawl has left behind does not count, because nobody holds the lock. A run that nobody holds
is finished if its summary says so, and stopped otherwise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import msgspec

from tres.crawl.events import StopReason
from tres.files import opening as files
from tres.files.durable import replace_file
from tres.store.run_directory import STATE, SUMMARY, is_locked, write_errors

Value = TypeVar("Value")

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


class RunState(msgspec.Struct, frozen=True):
    """What a run is doing, in which process, and since when (in seconds since the epoch)."""

    doing: Doing
    pid: int | None = None
    since: float | None = None

    @property
    def is_crawled(self) -> bool:
        """Whether a process is crawling the run, so that it can take orders."""
        return self.doing in (Doing.CRAWLING, Doing.PAUSED)


@contextmanager
def at_work(run: Path, clock: Callable[[], float] = time.time) -> Iterator[None]:
    """Mark the run as being crawled until the block ends."""
    with write_errors(run):
        write_state(run, Doing.CRAWLING, clock)
    try:
        yield
    finally:
        (run / STATE).unlink(missing_ok=True)


def write_state(run: Path, doing: Doing, clock: Callable[[], float] = time.time) -> None:
    """Write what the run is doing; only the holder of its lock may."""
    state = RunState(doing, os.getpid(), clock())
    replace_file(run / STATE, msgspec.json.encode(state), durable=False)


class _Summary(msgspec.Struct):
    stopped: StopReason | None = None


def run_state(run: Path) -> RunState:
    """Return what a run is doing now, without disturbing the crawl."""
    if is_locked(run):
        return _read(run / STATE, RunState(Doing.CRAWLING))
    finished = _read(run / SUMMARY, _Summary()).stopped in _ENDS
    return RunState(Doing.FINISHED if finished else Doing.STOPPED)


def _read(file: Path, default: Value) -> Value:
    """The value in a small JSON file; the default if it cannot be read, or is being replaced."""
    try:
        return msgspec.json.decode(files.content(file), type=type(default))
    except (OSError, ValueError, RecursionError):
        return default
