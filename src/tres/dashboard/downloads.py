"""What is too large for one answer: the report of a run, and its pages as a file.

Both are made by a process of its own and passed on as they come, so that neither is ever held as a
whole. The first line that the process says is JSON: an error, or that the rest is what was asked
for. If it fails later the connection breaks off, and no browser takes half a file for a whole one.
When nobody reads any more, the process is ended. Only a few are made at a time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.job_queue import COMMAND
from tres.dashboard.run_files import without_path
from tres.dashboard.security import RefusedError
from tres.errors import RunError
from tres.store.warc_writer import parts_of

AT_ONCE = 2
AGAIN = 5.0
"""Seconds after which one of them may be through."""
CHUNK = 1 << 16

REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'"
)
"""A report brings a policy of its own that names its script and its style by their hashes. Here it
is confined further: it has no origin, so it can ask the dashboard for nothing."""
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "urls": "text/plain; charset=utf-8",
    "warc": "application/warc",
}
ENDINGS = {"urls": "txt", "warc": "warc.gz"}
"""How the names of files end, where not like the format."""


def formats_of(run: FollowedRun) -> list[str]:
    """Formats in which the pages of a run can be had on this machine."""
    lacking = set()
    if find_spec("pyarrow") is None:
        lacking.add("parquet")
    if not any(parts_of(run.directory)):
        lacking.add("warc")
    return [form for form in TYPES if form not in lacking]


class Made(StreamingResponse):
    """An answer that a process makes; they end together."""

    def __init__(
        self, downloads: Downloads, process: asyncio.subprocess.Process, **options: object
    ) -> None:
        super().__init__(_chunks(process), **options)  # type: ignore[arg-type]
        self._downloads = downloads
        self._process = process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or as much of it as is wanted."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._downloads.ended(self._process)


@dataclass(slots=True)
class Downloads:
    """What is being made."""

    _running: int = 0

    async def report(self, run: FollowedRun) -> Made:
        """The report as it is now, to be opened in the browser."""
        return Made(
            self,
            await self._started(run, "report"),
            media_type="text/html",
            headers={"Content-Security-Policy": REPORT_POLICY},
        )

    async def export(self, run: FollowedRun, form: str, relevant: bool) -> Made:
        """Pages as a file to be saved; its name is made of the key of the run, which is plain."""
        if form not in TYPES:
            raise RefusedError(400, f"to: name one of {', '.join(TYPES)}")
        which = "relevant" if relevant else "all"
        name = f"{run.key}-{which}.{ENDINGS.get(form, form)}"
        return Made(
            self,
            await self._started(run, "export", form, which),
            headers={
                "Content-Type": TYPES[form],
                "Content-Disposition": f'attachment; filename="{name}"',
            },
        )

    async def ended(self, process: asyncio.subprocess.Process) -> None:
        """Let one go."""
        self._running -= 1
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _started(self, run: FollowedRun, *what: str) -> asyncio.subprocess.Process:
        """A process that has begun to say what was asked for."""
        if self._running >= AT_ONCE:
            raise RefusedError(503, "other files are being made; try again in a moment", AGAIN)
        self._running += 1
        kind, *rest = what
        command = (*COMMAND, kind, str(run.directory), *rest)
        try:
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        except BaseException:
            self._running -= 1
            raise
        try:
            assert process.stdout is not None
            problem = json.loads(await process.stdout.readline() or "{}").get("error", UNSAID)
        except BaseException:
            await self.ended(process)
            raise
        if problem:
            await self.ended(process)
            raise RunError(without_path(problem, run.directory))
        return process


UNSAID = "this could not be made; the terminal says more"


async def _chunks(process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None
    while chunk := await process.stdout.read(CHUNK):
        yield chunk
    if await process.wait():
        raise RunError(UNSAID)
