"""One process that reads pages: starting it, talking to it, ending it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Any

from tres.engines.reading.child import COST_BYTES
from tres.engines.reading.wire import LENGTH_BYTES, framed, length_of
from tres.errors import ModelError

START_SECONDS = 300.0
"""A neural model on a busy machine takes long to load."""
STARTS = 3
"""How often a process is started that dies before it is ready: somebody may have killed it."""

DYING_SECONDS = 5.0


class ReaderDied(Exception):  # noqa: N818
    """The process has ended without an answer."""


class ReaderProcess:
    """A child (`tres.engines.reading.child`), running or not."""

    def __init__(self) -> None:
        self._process: Process | None = None

    @property
    def runs(self) -> bool:
        """Was it started, and is it ready?"""
        return self._process is not None

    async def start(self, plan: dict[str, Any]) -> None:
        """Start it, if it does not run; `ModelError` if its reader cannot be made."""
        tries = STARTS
        while self._process is None:
            tries -= 1
            try:
                self._process = await _launched(plan)
            except (TimeoutError, ReaderDied, ValueError):  # slow, dead, or talking nonsense
                if not tries:
                    problem = "the process that reads pages does not start; run the crawl again"
                    raise ModelError(problem) from None

    def write(self, message: bytes) -> None:
        """Put a task into the pipe."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(framed(message))

    async def answer(self) -> tuple[float, bytes]:
        """The next answer, with the seconds of processor time that it took."""
        assert self._process is not None
        message = await _message(self._process)
        return int.from_bytes(message[:COST_BYTES], "big") / 1e6, message[COST_BYTES:]

    async def end(self, died: bool = False) -> int | None:
        """End it, if it runs; its exit code, which is negative if a signal has ended it."""
        process, self._process = self._process, None
        return None if process is None else await _ended(process, died)


async def _launched(plan: dict[str, Any]) -> Process:
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tres.engines.reading.child"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # an interrupt from the keyboard is for the parent only
        )
    except OSError as problem:  # too many processes, or open files
        message = f"no process can be started to read pages: {problem.strerror}"
        raise ModelError(message) from problem
    assert process.stdin is not None
    try:
        process.stdin.write(framed(json.dumps(plan).encode()))
        ready = json.loads(await asyncio.wait_for(_message(process), START_SECONDS))
    except BaseException as problem:
        await _ended(process, died=isinstance(problem, ReaderDied))
        raise
    if "error" in ready:
        await _ended(process)
        raise ModelError(ready["error"])
    return process


async def _message(process: Process) -> bytes:
    assert process.stdout is not None
    try:
        length = length_of(await process.stdout.readexactly(LENGTH_BYTES))
        return await process.stdout.readexactly(length)
    except (EOFError, ConnectionError) as problem:
        raise ReaderDied(type(problem).__name__) from None


async def _ended(process: Process, died: bool = False) -> int | None:
    """Kill it; one that has died by itself is left the moment that it takes to be gone."""
    if died:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), DYING_SECONDS)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    with suppress(ConnectionError):
        await process.communicate()
    return process.returncode
