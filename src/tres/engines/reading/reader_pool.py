"""Pages are read in other processes, which can be killed.

Parsing what strangers have made is the one part of a crawl that a page can hope to break: to
hold up for minutes, to fill the memory, to crash. So it happens in a child process
(`tres.engines.reading.child`), task after task, while the engine fetches. A child that takes too
long or talks nonsense is killed, and the task it was at is lost. One that dies may have been
killed by somebody else, so its task gets a second child; whoever kills two is lost.

One slow page must not hold up the pages behind it. A child has few tasks at a time, and when it
has been at the first of them for `HANDOVER` seconds, the others are given to a second child, which
is started when it is first needed. But all tasks of one host go to the same child, so that no host
can hold up both. What a task says does not depend on who does it, so the first answer counts and a
later one is ignored. `charge` is told what each task cost: the engine lets a site rest whose pages
cost too much.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from signal import SIGPROF
from typing import Any, TypeVar

from tres.engines.reading.child import BUG
from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_process import ReaderDied, ReaderProcess
from tres.engines.reading.tasks import ReadPage, Task
from tres.errors import ModelError
from tres.settings.sections import LiveSection
from tres.web.url import SiteBy

T = TypeVar("T")

SECONDS = 10.0
"""Of processor time for a task."""
PATIENCE = 4.0
"""Times as many seconds may pass: the machine may have other things to do."""
MEMORY = 1 << 30
READERS = 2
WINDOW = 4
"""Tasks that a child is given at a time: it must not idle while the engine is busy."""
HANDOVER = 1.0
LIVES = 2
"""Children that may die over a task."""

Charge = Callable[[str, float], None]
"""Is told the URL of a task and the seconds of processor time that it took."""


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
        found: Sequence[str] = (),
    ) -> ReaderPlan:
        """A reader for the model that is saved in a directory; `found` are further keywords."""
        arguments = {
            "model": str(model.absolute()),
            "keywords": list(keywords),
            "phrases": list(phrases),
            "site": site,
            "live": asdict(live),
            "year": year,
            "found": list(found),
        }
        return cls("tres.engines.reading.page_reader:saved_reader", arguments)

    @classmethod
    def exploring(cls, live: LiveSection, year: int, site: SiteBy = "host") -> ReaderPlan:
        """A reader that judges nothing."""
        arguments = {"live": asdict(live), "year": year, "site": site}
        return cls("tres.engines.reading.page_reader:exploring_reader", arguments)


@dataclass(slots=True, eq=False)
class _Job:
    """A task that somebody waits for."""

    task: Task[Any]
    message: bytes
    answer: asyncio.Future[Any]
    host: str
    owner: _Child | None = None
    """Who is to do it; others may have it in their pipe all the same."""
    deaths: int = 0

    def settle(self, result: Any) -> None:
        """Whoever asked may have gone away, or have an answer from another child."""
        if not self.answer.done():
            self.answer.set_result(result)


@dataclass(slots=True, eq=False)
class _Child:
    """A process and the jobs it was given, in order; it is at the first of them."""

    process: ReaderProcess
    jobs: deque[_Job] = field(default_factory=deque)
    sent: int = 0
    serving: asyncio.Task[None] | None = None
    slow: bool = False

    @property
    def has_room(self) -> bool:
        return not self.slow and len(self.jobs) < WINDOW

    def serves(self, host: str) -> bool:
        return any(job.owner is self and job.host == host for job in self.jobs)

    def send(self) -> None:
        """Put all jobs into the pipe that are not in it yet."""
        if self.process.runs:
            for job in islice(self.jobs, self.sent, None):
                self.process.write(job.message)
            self.sent = len(self.jobs)

    def done(self) -> _Job:
        """Take the first job away."""
        self.sent = max(0, self.sent - 1)
        return self.jobs.popleft()

    async def end(self, died: bool = False) -> int | None:
        self.sent = 0
        return await self.process.end(died)


class Readers:
    """A `PageReader` at arm's length. `restarts` counts the children that were lost."""

    def __init__(
        self,
        plan: ReaderPlan,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        patience: float | None = None,
    ) -> None:
        self.restarts = 0
        self.plan = plan
        """By which a child is made, when there is none or it was lost."""
        self.charge: Charge = lambda url, seconds: None
        """Set by the engine."""
        self._seconds = seconds
        self._patience = PATIENCE * seconds if patience is None else patience
        self._memory = memory
        self._waiting: deque[_Job] = deque()
        self._most = READERS
        self._children = [self._child()]

    async def start(self) -> None:
        """Start a child now; `ModelError` if its reader cannot be made."""
        await self._started(self._children[0])

    async def read(self, received: Received) -> Reading:
        """What a response says. Any number of pages may be asked for at the same time."""
        return await self.ask(ReadPage(received))

    async def ask(self, task: Task[T]) -> T:
        """What comes of a task; there is always an answer."""
        answer = asyncio.get_running_loop().create_future()
        job = _Job(task, task.message(), answer, _host(task.url))
        self._waiting.append(job)
        self._deal()
        result: T = await job.answer
        return result

    async def close(self) -> None:
        """End the children; tasks that are still waiting are cancelled."""
        serving = [child.serving for child in self._children if child.serving is not None]
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for job in self._all_jobs():
            job.answer.cancel()
        self._waiting.clear()
        for child in self._children:
            child.jobs.clear()
            await child.end()

    def _child(self) -> _Child:
        return _Child(ReaderProcess())

    def _all_jobs(self) -> Iterator[_Job]:
        yield from self._waiting
        for child in self._children:
            yield from child.jobs

    def _deal(self) -> None:
        """Give what waits, in order, to children that have room for it."""
        waiting, self._waiting = self._waiting, deque()
        for job in waiting:
            if job.answer.done():
                continue
            if (child := self._child_for(job)) is not None:
                self._give(child, job)
            else:
                self._waiting.append(job)

    def _child_for(self, job: _Job) -> _Child | None:
        """The child that has tasks of the same host, or else any, or a new one if all are slow."""
        for child in self._children:
            if child.serves(job.host):
                return child if child.has_room else None
        free = [child for child in self._children if child.has_room]
        if not free and all(child.slow for child in self._children):
            free = self._another()
        return min(free, key=lambda child: len(child.jobs)) if free else None

    def _another(self) -> list[_Child]:
        if len(self._children) >= self._most:
            return []
        self._children.append(self._child())
        return self._children[-1:]

    def _give(self, child: _Child, job: _Job) -> None:
        job.owner = child
        child.jobs.append(job)
        child.send()
        if child.serving is None or child.serving.done():
            child.serving = asyncio.create_task(self._serve(child))

    async def _serve(self, child: _Child) -> None:
        """Answer all jobs of a child, then stop."""
        try:
            while child.jobs:
                await self._started(child)
                child.send()
                await self._settle(child, child.jobs[0])
                self._deal()
        except ModelError as problem:
            self._give_up(child, problem)

    async def _started(self, child: _Child) -> None:
        limits = {"seconds": self._seconds, "patience": self._patience, "memory": self._memory}
        await child.process.start({**asdict(self.plan), **limits})

    def _give_up(self, child: _Child, problem: ModelError) -> None:
        """No reader can be made: others go on if there are any, else everybody hears why."""
        self._children.remove(child)
        self._put_back(child, child.jobs)
        self._most = len(self._children)
        if self._children:
            self._deal()
            return
        for job in self._waiting:
            if not job.answer.done():
                job.answer.set_exception(problem)
        self._waiting.clear()
        self._children, self._most = [self._child()], READERS

    async def _settle(self, child: _Child, job: _Job) -> None:
        """Wait for the answer to a child's first job, or see to what has become of it."""
        timer = asyncio.get_running_loop().call_later(HANDOVER, self._hand_over, child)
        try:
            cost, answer = await asyncio.wait_for(child.process.answer(), self._patience)
            result = self._result(job, answer)
        except (TimeoutError, ReaderDied, ValueError) as problem:
            await self._lost(child, job, problem)
            return
        finally:
            timer.cancel()
            child.slow = False
        child.done()
        if not job.answer.done():
            self.charge(job.task.url, cost)
        job.settle(result)

    def _result(self, job: _Job, answer: bytes) -> Any:
        if answer.startswith(BUG):
            return job.task.lost(answer[1:60].decode("ascii", "replace"))
        return job.task.checked(answer)

    def _hand_over(self, child: _Child) -> None:
        """The child is at its first job for long: others may take what is behind it."""
        child.slow = True
        first, *behind = child.jobs
        self._put_back(child, [job for job in behind if job.host != first.host])
        self._deal()

    def _put_back(self, child: _Child, jobs: Iterable[_Job]) -> None:
        """Let jobs of a child wait again, in front of all others; some may be others' by now."""
        for job in reversed([job for job in jobs if job.owner is child]):
            job.owner = None
            self._waiting.appendleft(job)

    async def _lost(self, child: _Child, job: _Job, problem: Exception) -> None:
        """End a child; its jobs wait for another, but for the one that it was at."""
        self.restarts += 1
        code = await child.end(died=isinstance(problem, ReaderDied))
        behind = list(islice(child.jobs, 1, None))
        child.jobs.clear()
        job.deaths += 1
        slow = isinstance(problem, TimeoutError) or code == -SIGPROF
        if isinstance(problem, ReaderDied) and not slow and job.deaths < LIVES:
            behind.insert(0, job)
        else:
            why = "took too long to read" if slow else "broke the process that reads it"
            self._fail(job, f"{why}; its site rests")
        self._put_back(child, behind)

    def _fail(self, job: _Job, note: str) -> None:
        if not job.answer.done():
            self.charge(job.task.url, self._seconds)
            job.settle(job.task.lost(note))


def _host(url: str) -> str:
    """The host of a URL in any spelling, or what stands in its place."""
    return url.partition("//")[2].partition("/")[0].lower()
