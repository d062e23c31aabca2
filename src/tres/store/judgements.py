"""Judgements of the pages of a run: `judgements.jsonl`, one line each, append-only.

    {"url": "http://...", "relevant": true, "step": 12, "probability": 0.48, "checksum": "..."}

`probability` is what the model said at that moment. A line without `by` is a person's; one with
`"by": "teacher"` comes from a language model and may have its `reason`. A page may be judged
again: a person outranks a teacher, whoever spoke last, and of two equals the last one counts.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified

JUDGEMENTS = "judgements.jsonl"
MOST_BYTES = 100_000_000
PERSON, TEACHER = "person", "teacher"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One page, judged."""

    url: str
    relevant: bool
    step: int
    probability: float
    by: str = PERSON
    reason: str = ""


def append_judgement(run: Path, judgement: Judgement) -> None:
    """Append a judgement; it is on disk when this returns."""
    values = asdict(judgement)
    for key, usual in (("by", PERSON), ("reason", "")):
        if values[key] == usual:
            del values[key]
    with (run / JUDGEMENTS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(signed(values), ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_judgements(run: Path) -> dict[str, bool]:
    """Return whether each judged page is relevant, by URL; a person outranks a teacher."""
    return {url: relevant for url, (relevant, _) in _judged(run).items()}


def read_judges(run: Path) -> dict[str, str]:
    """Return who gave the judgement that counts, by URL: `person` or `teacher`."""
    return {url: by for url, (_, by) in _judged(run).items()}


def _judged(run: Path) -> dict[str, tuple[bool, str]]:
    try:
        lines = files.content(run / JUDGEMENTS, MOST_BYTES).decode().split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RunError(f"{run / JUDGEMENTS}: cannot be read ({reason}); restore it") from None
    judged: dict[str, tuple[bool, str]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            url, relevant, by = _judgement(line, f"{run / JUDGEMENTS}: line {number}")
            if by == PERSON or judged.get(url, (relevant, by))[1] != PERSON:
                judged[url] = relevant, by
    return judged


def _judgement(line: str, place: str) -> tuple[str, bool, str]:
    try:
        judgement: dict[str, Any] = verified(json.loads(line))
        url, relevant = judgement["url"], judgement["relevant"]
        by = judgement.get("by", PERSON)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RunError(f"{place} is damaged; correct or remove the line") from None
    if not (isinstance(url, str) and isinstance(relevant, bool) and by in (PERSON, TEACHER)):
        raise RunError(f"{place} is damaged; correct or remove the line")
    return url, relevant, by
