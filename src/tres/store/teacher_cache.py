"""The answers of a teacher: `teacher.jsonl`, one line each, append-only.

    {"key": "...", "text": "...", "prompt_tokens": 512, "completion_tokens": 20, "checksum": "..."}

Calls cost money or minutes, so an answer is on disk before anybody uses it, and the same question
is never sent twice. `key` is a digest of all that shapes an answer: endpoint, model, messages.

What a kill has left of a line is ended by a line break when the file is opened again, and damaged
lines are skipped: their questions are asked again. One process has the file at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Self

from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified

TEACHER = "teacher.jsonl"
MOST_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model wrote, and the tokens it counted; None if it does not count them."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class TeacherCache:
    """The answers in a directory; threads may share it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / TEACHER
        self._lock = Lock()
        try:
            self._file = self._path.open("ab")
            self._claim()
            self._answers = dict(self._read())
        except OSError as problem:
            raise self._unusable(problem) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> Completion | None:
        """Return the answer to a question; None if there is none yet."""
        return self._answers.get(key)

    def add(self, key: str, answer: Completion) -> None:
        """Append an answer; it is on disk when this returns."""
        line = json.dumps(signed({"key": key, **asdict(answer)})) + "\n"
        with self._lock:
            try:
                self._file.write(line.encode())
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as problem:
                raise self._unusable(problem) from None
            self._answers[key] = answer

    def _unusable(self, problem: OSError) -> RunError:
        return RunError(
            f"{self._path}: cannot be used ({problem.strerror}); make it readable and writable, "
            "with space on its disk"
        )

    def _claim(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise RunError(
                f"{self._path}: another tres asks a teacher there; wait until it has ended"
            ) from None

    def _read(self) -> list[tuple[str, Completion]]:
        data = files.content(self._path, MOST_BYTES)
        if data and not data.endswith(b"\n"):
            self._file.write(b"\n")
        answers = []
        for line in data.splitlines():
            with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
                answers.append(_answer(verified(json.loads(line), by_hand=False)))
        return answers


def _answer(values: dict[str, Any]) -> tuple[str, Completion]:
    """Return key and answer; the checksum has shown that tres wrote them."""
    key = values.pop("key")
    return key, Completion(**values)
