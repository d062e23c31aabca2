"""The log of an exploration: `exploration.jsonl` in the run directory.

An exploration comes before the crawl, takes minutes on the live Web, and has no journal. So every
outcome is appended here as it comes, and an exploration that was stopped or killed goes on after
the last one. Each line has a checksum in front. The first says with which settings the exploration
started; each of the others is a URL that was requested, and its outcome. What a kill or a power cut
has left of a last line is cut off: that page is fetched again. When the crawl itself begins, the
file is deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import msgspec

from tres.engines.reading.wire import checked_failure, checked_page, page_values
from tres.errors import RunError
from tres.web.page import Failed, Outcome

EXPLORATION = "exploration.jsonl"

Answer = tuple[str, Outcome]
"""A URL that was requested, and its outcome."""


class ExplorationLog:
    """The log of one exploration; `answers` are those it held when it was opened."""

    def __init__(self, run: Path, settings: str) -> None:
        path = run / EXPLORATION
        lines = list(_sound_lines(path.read_bytes())) if path.exists() else []
        if lines and lines[0][0] != settings:
            raise RunError(
                f"{run}: an exploration was started there with other settings; name another --run, "
                "or add --overwrite"
            )
        self.answers: list[Answer] = [_answer(values) for values, _ in lines[1:]]
        self._file = path.open("ab")
        self._file.truncate(lines[-1][1] if lines else 0)
        if not lines:
            self._append(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, url: str, outcome: Outcome) -> None:
        """Append the outcome of a URL."""
        values = asdict(outcome) if isinstance(outcome, Failed) else page_values(outcome)
        self._append([url, values])

    def _append(self, values: Any) -> None:
        text = json.dumps(values).encode()
        self._file.write(b"%08x " % crc32(text) + text + b"\n")
        self._file.flush()


def _sound_lines(data: bytes) -> Iterator[tuple[Any, int]]:
    """Iterate over the values in the lines and where each ends, up to the first damaged one."""
    end = 0
    for line in data.splitlines(keepends=True):
        checksum, _, text = line.removesuffix(b"\n").partition(b" ")
        if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
            return
        end += len(line)
        yield msgspec.json.decode(text), end


def _answer(values: Any) -> Answer:
    url, outcome = values
    return url, checked_failure(outcome) if isinstance(outcome, dict) else checked_page(outcome)
