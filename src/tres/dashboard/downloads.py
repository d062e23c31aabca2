"""Downloads: the report of a run, and its pages as a file.

A process of its own writes each, and its output is streamed, so that nothing is held as a whole.
The first line of the output is JSON: an error, or an empty error if the rest is the file. If the
process fails later, the connection breaks off, so that no browser takes half a file for a whole
one. When nobody reads any more, the process is ended. Only a few run at a time.
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
from tres.dashboard.run_files import hide_path
from tres.dashboard.security import RefusedError
from tres.errors import RunError
from tres.store.export_pages import FORMATS
from tres.store.warc_writer import parts_of

AT_ONCE = 2
RETRY_AFTER = 5.0
"""Seconds after which one of them may have finished."""
CHUNK = 1 << 16

REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'"
)
"""A report has its own policy, which names its script and style by their hashes. Here it is also
sandboxed: without an origin it cannot ask the dashboard for anything."""


def formats_of(run: FollowedRun) -> list[str]:
    """Return the formats in which this machine can export the pages of a run."""
    lacking = set()
    if find_spec("pyarrow") is None:
        lacking.add("parquet")
    if not any(parts_of(run.directory)):
        lacking.add("warc")
    return [form for form in sorted(FORMATS) if form not in lacking]


class ProcessResponse(StreamingResponse):
    """The output of a process as a response; they end together."""

    def __init__(
        self, downloads: Downloads, process: asyncio.subprocess.Process, **options: object
    ) -> None:
        super().__init__(_chunks(process), **options)  # type: ignore[arg-type]
        self._downloads = downloads
        self._process = process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the output until the end, or until the client leaves."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._downloads.ended(self._process)


@dataclass(slots=True)
class Downloads:
    """The downloads that are running."""

    _running: int = 0

    async def report(self, run: FollowedRun) -> ProcessResponse:
        """Return the current report, to be opened in the browser."""
        return ProcessResponse(
            self,
            await self._start(run, "report"),
            media_type="text/html",
            headers={"Content-Security-Policy": REPORT_POLICY},
        )

    async def export(self, run: FollowedRun, form: str, relevant: bool) -> ProcessResponse:
        """Return pages as a file to be saved, named after the key of the run."""
        if form not in FORMATS:
            raise RefusedError(400, f"to: name one of {', '.join(sorted(FORMATS))}")
        which = "relevant" if relevant else "all"
        name = f"{run.key}-{which}.{FORMATS[form].suffix}"
        return ProcessResponse(
            self,
            await self._start(run, "export", form, which),
            headers={
                "Content-Type": FORMATS[form].content_type,
                "Content-Disposition": f'attachment; filename="{name}"',
            },
        )

    async def ended(self, process: asyncio.subprocess.Process) -> None:
        """End a process and free its place."""
        self._running -= 1
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _start(self, run: FollowedRun, *what: str) -> asyncio.subprocess.Process:
        """Start a process; return it once it says that all is well."""
        if self._running >= AT_ONCE:
            message = "other downloads are running; try again in a moment"
            raise RefusedError(503, message, RETRY_AFTER)
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
            problem = json.loads(await process.stdout.readline() or "{}").get("error", NO_RESULT)
        except BaseException:
            await self.ended(process)
            raise
        if problem:
            await self.ended(process)
            raise RunError(hide_path(problem, run.directory))
        return process


NO_RESULT = "this could not be made; the terminal says why"


async def _chunks(process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None
    while chunk := await process.stdout.read(CHUNK):
        yield chunk
    if await process.wait():
        raise RunError(NO_RESULT)
