"""People's judgements of the pages of a run: `judgements.jsonl`, one line each, append-only.

    {"url": "http://...", "relevant": true, "step": 12, "probability": 0.48, "checksum": "..."}

`probability` is what the model said at that moment. A page may be judged again: the last
judgement counts.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified

JUDGEMENTS = "judgements.jsonl"
MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """One page, judged."""

    url: str
    relevant: bool
    step: int
    probability: float


def append_judgement(run: Path, judgement: Judgement) -> None:
    """Append a judgement; it is on disk when this returns."""
    with (run / JUDGEMENTS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(signed(asdict(judgement)), ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_judgements(run: Path) -> dict[str, bool]:
    """Return whether each judged page is relevant, by URL; the last judgement counts."""
    try:
        lines = files.content(run / JUDGEMENTS, MOST_BYTES).decode().split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RunError(f"{run / JUDGEMENTS}: cannot be read ({reason}); restore it") from None
    judged: dict[str, bool] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            url, relevant = _judgement(line, f"{run / JUDGEMENTS}: line {number}")
            judged[url] = relevant
    return judged


def _judgement(line: str, place: str) -> tuple[str, bool]:
    try:
        judgement = verified(json.loads(line))
        url, relevant = judgement["url"], judgement["relevant"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RunError(f"{place} is damaged; correct or remove the line") from None
    if not isinstance(url, str) or not isinstance(relevant, bool):
        raise RunError(f"{place} is damaged; correct or remove the line")
    return url, relevant
