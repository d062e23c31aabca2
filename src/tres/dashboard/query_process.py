"""Small questions that somebody waits for: a process of its own that stays, and answers at once.

To explain a page or to look up what pages say takes a tenth of a second; to start Python and load
what that needs takes ten times as long. So one process is started with the first question, keeps
the rows of the runs it was asked about last, and ends when nobody has asked for some minutes. It
reads what strangers wrote, so it is not the server's own; one that takes too long is ended.

    server                                          this process
    {"ask": "explain", "run": ..., "step": 7}  ->
                                               <-   {"summary": ...}

Questions wait for each other, and only a few may: more are refused at once, with a word on when to
ask again.
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
from tres.dashboard.run_files import without_path
from tres.dashboard.security import RefusedError

WAITING = 8
"""Questions that may wait; a browser asks one or two at a time."""
LONGEST = 120.0
"""Seconds after which a question is given up, and the process ended; to grow a tree takes long."""
AGAIN = 2.0
"""Seconds after which it may be less busy."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class Answers:
    """The process that answers, as threads of the server see it."""

    _process: subprocess.Popen[bytes] | None = None
    _turn: Lock = field(default_factory=Lock)
    _count: Lock = field(default_factory=Lock)
    _waiting: int = 0

    def ask(self, kind: str, run: FollowedRun, **what: Any) -> Json:
        """The answer to a question about a run; `RefusedError` if there is none."""
        self._queue()
        try:
            with self._turn:
                question = {"ask": kind, "run": str(run.directory), "edition": run.edition, **what}
                answer = self._answered(json.dumps(question).encode() + b"\n")
        finally:
            with self._count:
                self._waiting -= 1
        if "error" in answer:
            message = without_path(answer["error"], run.directory)
            raise RefusedError(answer.get("status", 409), message)
        return answer

    def close(self) -> None:
        """Let the process go."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _queue(self) -> None:
        with self._count:
            if self._waiting >= WAITING:
                raise RefusedError(503, "too many ask at once; ask again in a moment", AGAIN)
            self._waiting += 1

    def _answered(self, question: bytes) -> Json:
        """What the process says; one that has gone meanwhile is started anew."""
        for known in (self._process, None):
            if line := _said(known or self._started(), question):
                answer: Json = json.loads(line)
                return answer
            self.close()
        raise RefusedError(500, "this could not be worked out; the terminal says more")

    def _started(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [*COMMAND, "answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        weakref.finalize(self, _end, self._process)
        return self._process


def _said(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    """The answer of a process; nothing if it has ended, or is ended for taking too long."""
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
