"""One child process that reads pages, and its jobs: start it, send it jobs, end it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tres.engines.reading.child import COST_BYTES
from tres.engines.reading.tasks import Task
from tres.engines.reading.wire import LENGTH_BYTES, framed, length_of
from tres.errors import ModelError

WINDOW = 4
"""Jobs that a child has at a time: it must not idle while the engine is busy."""
START_SECONDS = 300.0
"""Loading a neural model takes long on a busy machine."""
STARTS = 3
"""Attempts to start a process that dies before it is ready: somebody may have killed it."""
DYING_SECONDS = 5.0


class ReaderDied(Exception):  # noqa: N818
    """The process ended without an answer."""


@dataclass(slots=True, eq=False)
class Job:
    """A task and the future that waits for its result."""

    task: Task[Any]
    message: bytes
    result: asyncio.Future[Any]
    host: str
    owner: ReaderProcess | None = None
    """The child that is to do it; others may still have it in their pipe."""
    deaths: int = 0
    """Children that died over it."""


@dataclass(slots=True, eq=False)
class ReaderProcess:
    """A child (`tres.engines.reading.child`) and its jobs, in order; it works on the first."""

    jobs: deque[Job] = field(default_factory=deque)
    sent: int = 0
    """How many of the jobs are in its pipe."""
    serving: asyncio.Task[None] | None = None
    slow: bool = False
    _process: Process | None = None

    @property
    def has_room(self) -> bool:
        return not self.slow and len(self.jobs) < WINDOW

    def serves(self, host: str) -> bool:
        return any(job.owner is self and job.host == host for job in self.jobs)

    async def start(self, plan: dict[str, Any]) -> None:
        """Start it unless it is running; `ModelError` if it cannot make its reader."""
        tries = STARTS
        while self._process is None:
            tries -= 1
            try:
                self._process = await _launch(plan)
            except (TimeoutError, ReaderDied, ValueError):  # slow, dead, or answering nonsense
                if not tries:
                    problem = "the process that reads pages does not start; run the crawl again"
                    raise ModelError(problem) from None

    def send(self) -> None:
        """Write all jobs into the pipe that are not in it yet."""
        if self._process is not None:
            for job in islice(self.jobs, self.sent, None):
                _write(self._process, job.message)
            self.sent = len(self.jobs)

    async def answer(self) -> tuple[float, bytes]:
        """The seconds of processor time of the next answer, and the answer."""
        assert self._process is not None
        message = await _receive(self._process)
        return int.from_bytes(message[:COST_BYTES], "big") / 1e6, message[COST_BYTES:]

    def remove_first(self) -> None:
        """Remove the first job: it is done."""
        self.sent = max(0, self.sent - 1)
        self.jobs.popleft()

    async def end(self, died: bool = False) -> int | None:
        """End it if it is running; return its exit code, negative if a signal ended it."""
        process, self._process, self.sent = self._process, None, 0
        return None if process is None else await _end(process, died)


async def _launch(plan: dict[str, Any]) -> Process:
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tres.engines.reading.child"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # an interrupt from the keyboard is the parent's only
        )
    except OSError as problem:  # too many processes, or open files
        message = f"no process can be started to read pages: {problem.strerror}"
        raise ModelError(message) from problem
    try:
        _write(process, json.dumps(plan).encode())
        ready = json.loads(await asyncio.wait_for(_receive(process), START_SECONDS))
    except BaseException as problem:
        await _end(process, died=isinstance(problem, ReaderDied))
        raise
    if "error" in ready:
        await _end(process)
        raise ModelError(ready["error"])
    return process


def _write(process: Process, message: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(framed(message))


async def _receive(process: Process) -> bytes:
    assert process.stdout is not None
    try:
        length = length_of(await process.stdout.readexactly(LENGTH_BYTES))
        return await process.stdout.readexactly(length)
    except (EOFError, ConnectionError) as problem:
        raise ReaderDied(type(problem).__name__) from None


async def _end(process: Process, died: bool = False) -> int | None:
    """Kill it; give one that died by itself a moment to exit, for the sake of its exit code."""
    if died:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), DYING_SECONDS)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    with suppress(ConnectionError):
        await process.communicate()
    return process.returncode
