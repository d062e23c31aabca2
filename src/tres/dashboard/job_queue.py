"""Jobs that run in other processes (`dashboard.job_worker`), as the server sees them.

Each run has at most one job of a kind at a time, and its last result is kept. The event loop never
computes: it starts a process and reads its output.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_counts import Json
from tres.dashboard.run_files import hide_path

COMMAND = (sys.executable, "-P", "-m", "tres.dashboard.job_worker")
"""`-P`: no module is imported from the current folder, which may hold anybody's files."""
LONGEST = 1_800.0
"""Seconds after which a job is given up."""
LONGEST_LINE = 1 << 24
NO_RESULT = "this could not be computed; the terminal says why"
AT_ONCE = 2
"""Jobs of all runs together: people also work on this machine."""


@dataclass(slots=True)
class Job:
    """One kind of work for one run."""

    result: Json | None = None
    began: float = float("-inf")
    took: float = 0.0
    progress: str = ""
    """What it is doing now."""
    task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is being done."""
        return self.task is not None and not self.task.done()


@dataclass(slots=True)
class JobQueue:
    """All jobs, by kind and run."""

    clock: Callable[[], float]
    _jobs: dict[tuple[str, str], Job] = field(default_factory=dict)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def get(self, kind: str, run: FollowedRun) -> Job:
        """Return a job, which may not have run yet."""
        return self._jobs.setdefault((kind, run.key), Job())

    def start(self, kind: str, run: FollowedRun) -> Job:
        """Start a job, unless it is running."""
        job = self.get(kind, run)
        if not job.is_running:
            job.began, job.progress = self.clock(), ""
            job.task = asyncio.create_task(self._do(job, kind, run))
        return job

    async def close(self) -> None:
        """Cancel all jobs."""
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, job: Job, kind: str, run: FollowedRun) -> None:
        async with self._room:
            begin = self.clock()
            job.result = await _outcome(kind, run, job)
            if "error" in job.result:
                job.result = {"error": hide_path(job.result["error"], run.directory)}
            job.took = self.clock() - begin


async def _outcome(kind: str, run: FollowedRun, job: Job) -> Json:
    """The last line that the process prints; the lines before report its progress."""
    command = (*COMMAND, kind, str(run.directory))
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE
    )
    try:
        assert process.stdout is not None
        result: Json = {}
        async with asyncio.timeout(LONGEST):
            async for line in process.stdout:
                result = json.loads(line)
                job.progress = result.get("progress", "")
        return result or {"error": NO_RESULT}
    except (TimeoutError, ValueError):
        return {"error": NO_RESULT}
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
