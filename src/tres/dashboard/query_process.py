"""Quick questions, answered by one process that keeps running (`dashboard.query_worker`).

To explain a page or to read some extracts takes a tenth of a second; to start Python and import
what that needs takes ten times as long. So a process is started with the first question, keeps the
rows of the last runs, and ends after some minutes without questions. It reads pages of the Web, so
it is separate from the server; if it takes too long, it is ended.

    server                                          this process
    {"ask": "explain", "run": ..., "step": 7}  ->
                                               <-   {"summary": ...}

Questions wait for each other, and only a few may wait: more are refused at once, with the time
after which to ask again.
"""

from __future__ import annotations

import json
import subprocess
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Any

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.job_queue import COMMAND
from tres.dashboard.run_counts import Json
from tres.dashboard.run_files import hide_path
from tres.dashboard.security import RefusedError

WAITING = 8
"""Questions that may wait; a browser asks one or two at a time."""
LONGEST = 120.0
"""Seconds after which a question is given up and the process ended; to grow a tree takes long."""
RETRY_AFTER = 2.0
"""Seconds after which it may be less busy."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class QueryProcess:
    """The process that answers; threads of the server share it."""

    _process: subprocess.Popen[bytes] | None = None
    _turn: Lock = field(default_factory=Lock)
    _count: Lock = field(default_factory=Lock)
    _waiting: int = 0

    def ask(self, kind: str, run: FollowedRun, **what: Any) -> Json:
        """Return the answer to a question about a run; `RefusedError` if there is none."""
        self._queue()
        try:
            with self._turn:
                question = {"ask": kind, "run": str(run.directory), "edition": run.edition, **what}
                answer = self._answer(json.dumps(question).encode() + b"\n")
        finally:
            with self._count:
                self._waiting -= 1
        if "error" in answer:
            message = hide_path(answer["error"], run.directory)
            raise RefusedError(answer.get("status", 409), message)
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _queue(self) -> None:
        with self._count:
            if self._waiting >= WAITING:
                raise RefusedError(
                    503, "too many questions at once; ask again in a moment", RETRY_AFTER
                )
            self._waiting += 1

    def _answer(self, question: bytes) -> Json:
        """The answer of the process, which is started again if it has ended."""
        for known in (self._process, None):
            if line := _exchange(known or self._start(), question):
                answer: Json = json.loads(line)
                return answer
            self.close()
        raise RefusedError(500, "this could not be computed; the terminal says why")

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [*COMMAND, "answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        weakref.finalize(self, _end, self._process)
        return self._process


def _exchange(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    """Send a question and read the answer; empty if the process ends or takes too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    timer = Timer(LONGEST, process.kill)
    timer.start()
    try:
        process.stdin.write(question)
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
