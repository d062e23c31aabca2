"""Pages are read in another process, which can be killed.

Parsing what strangers have made is the one part of a crawl that a page can hope to break: to
hold up for minutes, to fill the memory, to crash. So it happens in a child process, page after
page, while the engine fetches others. Pages wait in the pipe in order, and the child answers in
order; the first of them is the one it is reading. If that takes too long, or the child dies or
talks nonsense, the child is killed and that page is `UNREADABLE`; a new child gets the others.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tres.engines.reading import Reading, Received
from tres.engines.wire import LENGTH_BYTES, checked_reading, framed, length_of, page_message
from tres.errors import ModelError
from tres.sections import LiveSection
from tres.web.page import Failed, FailureKind
from tres.web.parse import well_formed
from tres.web.url import SiteBy

SECONDS = 10.0
MEMORY = 1 << 30
START_SECONDS = 300.0
"""A neural model on a busy machine takes long to load."""


@dataclass(frozen=True)
class ReaderPlan:
    """How a process makes its reader: a function as `module:function`, and plain arguments."""

    factory: str
    arguments: dict[str, Any]

    @classmethod
    def saved(
        cls,
        model: Path,
        keywords: Sequence[str],
        phrases: Sequence[str],
        live: LiveSection,
        year: int,
        site: SiteBy = "host",
        eight_bit: bool = False,
    ) -> ReaderPlan:
        """A reader for the model that is saved in a directory."""
        arguments = {
            "model": str(model.absolute()),
            "keywords": list(keywords),
            "phrases": list(phrases),
            "site": site,
            "eight_bit": eight_bit,
            "live": asdict(live),
            "year": year,
        }
        return cls("tres.engines.reading:saved_reader", arguments)


@dataclass(frozen=True, slots=True)
class _Job:
    message: bytes
    url: str
    reading: asyncio.Future[Reading]


class ReaderProcess:
    """A `PageReader` at arm's length. `restarts` counts the children that were lost."""

    def __init__(self, plan: ReaderPlan, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.restarts = 0
        self.plan = plan
        """By which a child is made, when there is none or it was lost."""
        self._seconds = seconds
        self._memory = memory
        self._process: Process | None = None
        self._jobs: deque[_Job] = deque()
        self._sent = 0
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the child now; `ModelError` if its reader cannot be made."""
        if self._process is None:
            self._process = await self._launched()

    async def read(self, received: Received) -> Reading:
        """What a response says. Any number of pages may be asked for at the same time."""
        future: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        self._jobs.append(_Job(framed(page_message(received)), received.url, future))
        self._send()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """End the child; pages that are still waiting are cancelled."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        while self._jobs:
            self._jobs.popleft().reading.cancel()
        await self._end()

    async def _serve(self) -> None:
        """Answer all jobs, then stop; a reader that cannot be made fails them all."""
        try:
            while self._jobs:
                await self.start()
                self._send()
                await self._settle(self._jobs[0])
        except ModelError as problem:
            while self._jobs:
                _settled(self._jobs.popleft().reading, problem)

    async def _settle(self, job: _Job) -> None:
        try:
            reading = await asyncio.wait_for(self._answer(), self._seconds)
        except (TimeoutError, EOFError, ConnectionError, ValueError) as problem:
            failed = Failed(well_formed(job.url), FailureKind.UNREADABLE)
            reading = Reading(failed, note=f"reader lost: {type(problem).__name__}")
            self.restarts += 1
            await self._end()
        self._jobs.popleft()
        self._sent = max(0, self._sent - 1)
        _settled(job.reading, reading)

    async def _answer(self) -> Reading:
        assert self._process is not None
        return checked_reading(await _message(self._process))

    def _send(self) -> None:
        """Put all pages into the pipe that are not in it yet."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        for job in islice(self._jobs, self._sent, None):
            self._process.stdin.write(job.message)
        self._sent = len(self._jobs)

    async def _launched(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tres.engines.child"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # an interrupt from the keyboard is for the parent only
        )
        assert process.stdin is not None
        plan = {**asdict(self.plan), "seconds": self._seconds, "memory": self._memory}
        process.stdin.write(framed(json.dumps(plan).encode()))
        try:
            ready = json.loads(await asyncio.wait_for(_message(process), START_SECONDS))
        except (TimeoutError, EOFError, ConnectionError):
            ready = {"error": "the process that reads pages does not start; run the crawl again"}
        except asyncio.CancelledError:
            await _ended(process)
            raise
        if "error" in ready:
            await _ended(process)
            raise ModelError(ready["error"])
        return process

    async def _end(self) -> None:
        process, self._process = self._process, None
        self._sent = 0
        if process is not None:
            await _ended(process)


async def _message(process: Process) -> bytes:
    assert process.stdout is not None
    length = length_of(await process.stdout.readexactly(LENGTH_BYTES))
    return await process.stdout.readexactly(length)


async def _ended(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):  # it may just have ended by itself
            process.kill()
    await process.communicate()


def _settled(future: asyncio.Future[Reading], result: Reading | ModelError) -> None:
    """Whoever asked may have gone away."""
    if future.done():
        return
    if isinstance(result, ModelError):
        future.set_exception(result)
    else:
        future.set_result(result)
