"""Jobs for other processes (`dashboard.job_worker`), as the server sees them.

One job of a kind runs at a time for a run, and its last result is kept. The event loop never
computes: it starts a process, and hears of its end.
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
from tres.dashboard.run_files import without_path

COMMAND = (sys.executable, "-P", "-m", "tres.dashboard.job_worker")
"""No module comes from the current folder (`-P`): it may hold anybody's files."""
LONGEST = 1_800.0
"""Seconds after which a job is given up."""
LONGEST_LINE = 1 << 24
UNSAID = "this could not be worked out; the terminal says more"
AT_ONCE = 2
"""Jobs of all runs together: people work on this machine, too."""


@dataclass(slots=True)
class Job:
    """One kind of work for one run."""

    result: Json | None = None
    began: float = float("-inf")
    took: float = 0.0
    progress: str = ""
    """What is being done now."""
    task: asyncio.Task[None] | None = None

    @property
    def runs(self) -> bool:
        """Is it being done?"""
        return self.task is not None and not self.task.done()


@dataclass(slots=True)
class Jobs:
    """All work that is done elsewhere."""

    clock: Callable[[], float]
    _jobs: dict[tuple[str, str], Job] = field(default_factory=dict)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def get(self, kind: str, run: FollowedRun) -> Job:
        """What is known of a job."""
        return self._jobs.setdefault((kind, run.key), Job())

    def start(self, kind: str, run: FollowedRun) -> Job:
        """Have it done, unless it is being done."""
        job = self.get(kind, run)
        if not job.runs:
            job.began, job.progress = self.clock(), ""
            job.task = asyncio.create_task(self._do(job, kind, run))
        return job

    async def close(self) -> None:
        """Give up whatever is being done."""
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, job: Job, kind: str, run: FollowedRun) -> None:
        async with self._room:
            begin = self.clock()
            job.result = _without_path(await _outcome(kind, run, job), run)
            job.took = self.clock() - begin


async def _outcome(kind: str, run: FollowedRun, job: Job) -> Json:
    """What a process of its own has found: its last line. Those before tell how far it is."""
    command = (*COMMAND, kind, str(run.directory))
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE
    )
    try:
        assert process.stdout is not None
        told: Json = {}
        async with asyncio.timeout(LONGEST):
            async for line in process.stdout:
                told = json.loads(line)
                job.progress = told.get("progress", "")
        return told or {"error": UNSAID}
    except (TimeoutError, ValueError):
        return {"error": UNSAID}
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _without_path(result: Json, run: FollowedRun) -> Json:
    if "error" not in result:
        return result
    return {"error": without_path(result["error"], run.directory)}
