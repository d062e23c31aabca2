"""The jobs of a pool of readers, and the child processes that do them."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tres.engines.reading.reader_process import ReaderProcess
from tres.engines.reading.tasks import Task

WINDOW = 4
"""Jobs that a child has at a time: it must not idle while the engine is busy."""


@dataclass(slots=True, eq=False)
class Job:
    """A task and the future that waits for its result."""

    task: Task[Any]
    message: bytes
    result: asyncio.Future[Any]
    host: str
    owner: Child | None = None
    """The child that is to do it; others may still have it in their pipe."""
    deaths: int = 0
    """Children that died over it."""


@dataclass(slots=True, eq=False)
class Child:
    """A child process and its jobs, in order; it works on the first of them."""

    process: ReaderProcess = field(default_factory=ReaderProcess)
    jobs: deque[Job] = field(default_factory=deque)
    sent: int = 0
    """How many of the jobs are in its pipe."""
    serving: asyncio.Task[None] | None = None
    slow: bool = False

    @property
    def has_room(self) -> bool:
        return not self.slow and len(self.jobs) < WINDOW

    def serves(self, host: str) -> bool:
        return any(job.owner is self and job.host == host for job in self.jobs)

    def send(self) -> None:
        """Write all jobs into the pipe that are not in it yet."""
        if self.process.is_running:
            for job in islice(self.jobs, self.sent, None):
                self.process.write(job.message)
            self.sent = len(self.jobs)

    def remove_first(self) -> None:
        """Remove the first job: it is done."""
        self.sent = max(0, self.sent - 1)
        self.jobs.popleft()

    async def end(self, died: bool = False) -> int | None:
        """End the process; return its exit code."""
        self.sent = 0
        return await self.process.end(died)
