"""The log of an exploration, `exploration.jsonl`: what a teacher sees before there is a crawl.

An exploration takes minutes on the live Web, and has no journal. So every outcome is appended here
as it comes, and an exploration that was stopped or killed goes on after the last one. Each line is
a URL that was requested and its outcome, with a checksum in front. What a kill or a power cut has
left of a last line is cut off: that page is fetched again.
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
from tres.web.page import Failed, Outcome

EXPLORATION = "exploration.jsonl"

Answer = tuple[str, Outcome]
"""A URL that was requested, and its outcome."""


class ExplorationLog:
    """The log of one exploration; `answers` are those it held when it was opened."""

    def __init__(self, directory: Path) -> None:
        path = directory / EXPLORATION
        lines = list(_sound_lines(path.read_bytes())) if path.exists() else []
        self.answers: list[Answer] = [_answer(values) for values, _ in lines]
        self._file = path.open("ab")
        self._file.truncate(lines[-1][1] if lines else 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, url: str, outcome: Outcome) -> None:
        """Append the outcome of a URL."""
        values = asdict(outcome) if isinstance(outcome, Failed) else page_values(outcome)
        text = json.dumps([url, values]).encode()
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
