"""A pool of child processes that read pages, and that can be killed.

Parsing the pages of strangers is the one part of a crawl that a page can hope to break: to hold it
up for minutes, to fill the memory, to crash it. So child processes (`tres.engines.reading.child`)
do it, task after task, while the engine fetches. A child that takes too long or answers nonsense is
killed, and its current task fails. A child that dies may have been killed by somebody else, so its
task gets a second child; a task that kills two fails.

One slow page must not hold up the pages behind it. A child has few tasks at a time, and when it has
worked on the first for `HANDOVER` seconds, the others go to a second child, which is started when
it is first needed. But all tasks of one host go to the same child, so that no host can hold up
both. The result of a task does not depend on the child, so the first answer counts and a later one
is ignored. `charge` is called with the cost of each task: the engine lets a site rest whose pages
cost too much.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import islice
from signal import SIGPROF
from typing import Any, TypeVar

from tres.engines.reading.child import BUG
from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.reader_process import Job, ReaderDied, ReaderProcess
from tres.engines.reading.tasks import ReadPage, Task
from tres.errors import ModelError, printable

T = TypeVar("T")

SECONDS = 10.0
"""Processor time for a task."""
PATIENCE = 4.0
"""Times as many seconds may pass on the clock: the machine may be busy."""
MEMORY = 1 << 30
MAX_CHILDREN = 2
HANDOVER = 1.0
MAX_DEATHS = 2
"""A task over which so many children died fails."""
MAX_NOTE_BYTES = 300
"""Of what a child says about a task that failed."""

Charge = Callable[[str, float], None]
"""Called with the URL of a task and the seconds of processor time that it took."""


class ReaderPool:
    """A `PageReader` in child processes. `restarts` counts the children that were lost."""

    def __init__(
        self,
        plan: ReaderPlan,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        patience: float | None = None,
    ) -> None:
        self.restarts = 0
        self.plan = plan
        """For the next child that is started."""
        self.charge: Charge = lambda url, seconds: None
        """Set by the engine."""
        self._seconds = seconds
        self._patience = PATIENCE * seconds if patience is None else patience
        self._memory = memory
        self._waiting: deque[Job] = deque()
        self._max_children = MAX_CHILDREN
        self._children = [ReaderProcess()]

    async def start(self) -> None:
        """Start a child now; `ModelError` if it cannot make its reader."""
        await self._ensure_started(self._children[0])

    async def read(self, received: Received) -> Reading:
        """Read a response. Any number may be read at the same time."""
        return await self.ask(ReadPage(received))

    async def ask(self, task: Task[T]) -> T:
        """Do a task; a task that fails has a result too (`Task.failed`)."""
        future = asyncio.get_running_loop().create_future()
        host = task.url.partition("//")[2].partition("/")[0].lower()  # the URL in any spelling
        self._waiting.append(Job(task, task.message(), future, host))
        self._assign_waiting()
        result: T = await future
        return result

    async def close(self) -> None:
        """End the children; cancel the tasks that still wait."""
        serving = [child.serving for child in self._children if child.serving is not None]
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for jobs in (self._waiting, *(child.jobs for child in self._children)):
            for job in jobs:
                job.result.cancel()
            jobs.clear()
        for child in self._children:
            await child.end()

    def _assign_waiting(self) -> None:
        """Give the waiting jobs, in order, to children that have room for them."""
        waiting, self._waiting = self._waiting, deque()
        for job in waiting:
            if job.result.done():
                continue
            child = self._child_for(job)
            if child is None:
                self._waiting.append(job)
                continue
            job.owner = child
            child.jobs.append(job)
            child.send()
            if child.serving is None or child.serving.done():
                child.serving = asyncio.create_task(self._serve(child))

    def _child_for(self, job: Job) -> ReaderProcess | None:
        """The child with tasks of this host, else the least busy; a new one if all are slow."""
        for child in self._children:
            if child.serves(job.host):
                return child if child.has_room else None
        free = [child for child in self._children if child.has_room]
        all_slow = all(child.slow for child in self._children)
        if not free and all_slow and len(self._children) < self._max_children:
            free = [ReaderProcess()]
            self._children += free
        return min(free, key=lambda child: len(child.jobs)) if free else None

    async def _serve(self, child: ReaderProcess) -> None:
        """Finish all jobs of a child."""
        try:
            while child.jobs:
                await self._ensure_started(child)
                child.send()
                await self._finish_first(child)
                self._assign_waiting()
        except ModelError as problem:
            self._remove(child, problem)

    async def _ensure_started(self, child: ReaderProcess) -> None:
        limits = {"seconds": self._seconds, "patience": self._patience, "memory": self._memory}
        await child.start({**asdict(self.plan), **limits})

    def _remove(self, child: ReaderProcess, problem: ModelError) -> None:
        """Do without a child that cannot make its reader; if it was the last, all jobs fail."""
        self._children.remove(child)
        self._put_back(child, child.jobs)
        self._max_children = len(self._children)
        if self._children:
            self._assign_waiting()
            return
        for job in self._waiting:
            if not job.result.done():
                job.result.set_exception(problem)
        self._waiting.clear()
        self._children, self._max_children = [ReaderProcess()], MAX_CHILDREN

    async def _finish_first(self, child: ReaderProcess) -> None:
        """Wait for the answer to a child's first job; replace a child that gives none."""
        job = child.jobs[0]
        timer = asyncio.get_running_loop().call_later(HANDOVER, self._hand_over, child)
        try:
            cost, answer = await asyncio.wait_for(child.answer(), self._patience)
            result = _decode(job.task, answer)
        except (TimeoutError, ReaderDied, ValueError) as problem:
            await self._end_child(child, job, problem)
            return
        finally:
            timer.cancel()
            child.slow = False
        child.remove_first()
        self._finish(job, result, cost)

    def _finish(self, job: Job, result: Any, seconds: float) -> None:
        if not job.result.done():  # else it was cancelled, or another child was quicker
            self.charge(job.task.url, seconds)
            job.result.set_result(result)

    def _hand_over(self, child: ReaderProcess) -> None:
        """Let other children take the jobs behind a slow one, except those of its host."""
        child.slow = True
        first, *behind = child.jobs
        self._put_back(child, [job for job in behind if job.host != first.host])
        self._assign_waiting()

    def _put_back(self, child: ReaderProcess, jobs: Iterable[Job]) -> None:
        """Let the jobs that are still the child's wait again, in front of all others."""
        for job in reversed([job for job in jobs if job.owner is child]):
            job.owner = None
            self._waiting.appendleft(job)

    async def _end_child(self, child: ReaderProcess, job: Job, problem: Exception) -> None:
        """End a child that failed over a job; the jobs behind it wait for another child."""
        self.restarts += 1
        code = await child.end(died=isinstance(problem, ReaderDied))
        remaining = list(islice(child.jobs, 1, None))
        child.jobs.clear()
        job.deaths += 1
        slow = isinstance(problem, TimeoutError) or code == -SIGPROF
        if isinstance(problem, ReaderDied) and not slow and job.deaths < MAX_DEATHS:
            remaining.insert(0, job)
        else:
            why = "took too long to read" if slow else "broke the process that reads it"
            self._finish(job, job.task.failed(f"{why}; its site rests"), self._seconds)
        self._put_back(child, remaining)


def _decode(task: Task[T], answer: bytes) -> T:
    """The result in an answer; `ValueError` if it holds none."""
    if answer.startswith(BUG):
        said = answer[len(BUG) :][:MAX_NOTE_BYTES].decode("utf-8", "replace")
        return task.failed(printable(said))
    return task.decode(answer)
