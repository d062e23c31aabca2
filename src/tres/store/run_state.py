"""What a run is doing now, for whoever looks at it from outside.

Whoever crawls a run holds its claim (a lock on the directory, which ends with the process, however
that ends) and says in `state.json` what it does: crawling, or paused. The lock is the truth. A file
that a killed crawl has left behind is not believed, because nobody holds the claim; a run that
nobody holds is finished if its summary says so, and stopped otherwise.
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
from tres.store.recorded_session import writing
from tres.store.run_directory import STATE, SUMMARY, is_claimed

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
    """What a run is doing; by which process and since when (seconds of the epoch), if it is."""

    doing: Doing
    pid: int | None = None
    since: float | None = None

    @property
    def is_crawled(self) -> bool:
        """Is there a crawl that can be told something?"""
        return self.doing in (Doing.CRAWLING, Doing.PAUSED)


@contextmanager
def at_work(run: Path, clock: Callable[[], float] = time.time) -> Iterator[None]:
    """The holder of a claim crawls; when it does no more, nothing says so any longer."""
    with writing(run):
        write_state(run, Doing.CRAWLING, clock)
    try:
        yield
    finally:
        (run / STATE).unlink(missing_ok=True)


def write_state(run: Path, doing: Doing, clock: Callable[[], float] = time.time) -> None:
    """Say what the run is doing; only the holder of its claim may."""
    state = {"doing": doing, "pid": os.getpid(), "since": clock()}
    replace_file(run / STATE, json.dumps(state).encode(), durable=False)


def run_state(run: Path) -> RunState:
    """What a run is doing now; asking disturbs nobody."""
    if not is_claimed(run):
        finished = _held(run / SUMMARY).get("stopped") in _ENDS
        return RunState(Doing.FINISHED if finished else Doing.STOPPED)
    held = _held(run / STATE)
    paused = held.get("doing") == Doing.PAUSED
    pid, since = held.get("pid"), held.get("since")
    return RunState(
        Doing.PAUSED if paused else Doing.CRAWLING,
        pid if isinstance(pid, int) else None,
        since if isinstance(since, float) else None,
    )


def _held(file: Path) -> dict[str, Any]:
    """What a small JSON file holds; nothing if it is none, or is being replaced."""
    try:
        held = json.loads(files.content(file))
    except (OSError, ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}
