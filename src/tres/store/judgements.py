"""Judgements of the pages of a run: `judgements.jsonl`, one line each, append-only.

    {"url": "http://...", "relevant": true, "step": 12, "probability": 0.48, "checksum": "..."}

`probability` is what the model said at that moment. A line may say who judged, in `by`: "person",
as where it says nothing, or "teacher", a language model that was asked, perhaps with its `reason`.
A page may be judged again: the last judgement counts, but a teacher never overrules a person.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified

JUDGEMENTS = "judgements.jsonl"
MOST_BYTES = 100_000_000
PERSON, TEACHER = "person", "teacher"
"""Who may judge."""


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


class Judged(NamedTuple):
    """What was said of a page, and by whom."""

    relevant: bool
    by: str


def read_judgements(run: Path) -> dict[str, bool]:
    """Return whether each judged page is relevant, by URL."""
    return {url: judged.relevant for url, judged in judged_pages(run).items()}


def read_judges(run: Path) -> dict[str, str]:
    """Return who judged each judged page, by URL."""
    return {url: judged.by for url, judged in judged_pages(run).items()}


def judged_pages(run: Path) -> dict[str, Judged]:
    """Return the judgement that counts of each judged page, by URL."""
    try:
        lines = files.content(run / JUDGEMENTS, MOST_BYTES).decode().split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RunError(f"{run / JUDGEMENTS}: cannot be read ({reason}); restore it") from None
    pages: dict[str, Judged] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            url, judged = _judgement(line, f"{run / JUDGEMENTS}: line {number}")
            if not _outranks(pages.get(url), judged):
                pages[url] = judged
    return pages


def _outranks(earlier: Judged | None, later: Judged) -> bool:
    """Whether a judgement counts in spite of a later one."""
    return earlier is not None and earlier.by == PERSON and later.by == TEACHER


def _judgement(line: str, place: str) -> tuple[str, Judged]:
    try:
        judgement = verified(json.loads(line))
        url, relevant = judgement["url"], judgement["relevant"]
        by = judgement.get("by", PERSON)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RunError(f"{place} is damaged; correct or remove the line") from None
    if not isinstance(url, str) or not isinstance(relevant, bool) or by not in (PERSON, TEACHER):
        raise RunError(f"{place} is damaged; correct or remove the line")
    return url, Judged(relevant, by)
