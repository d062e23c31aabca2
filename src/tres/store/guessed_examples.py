"""The examples of a model that was trained without labels: `examples.jsonl.gz`, one per line.

    {"text": "...", "relevant": true, "weight": 3.0}

They are kept so that judgements can be added to them later. To explore again would find other
pages on the live Web.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from tres.errors import RunError
from tres.files import opening as files
from tres.files.durable import replace_file
from tres.relevance.examples import Examples

EXAMPLES = "examples.jsonl.gz"
MOST_BYTES = 1_000_000_000
"""Bytes after decompression: a thousand pages of the maximum length that is read."""


def write_guesses(run: Path, guesses: Examples) -> None:
    """Write the examples; equal examples give equal files."""
    triples = zip(guesses.texts, guesses.labels, guesses.weights or (), strict=True)
    lines = [
        json.dumps({"text": text, "relevant": label, "weight": weight}) + "\n"
        for text, label, weight in triples
    ]
    replace_file(run / EXAMPLES, gzip.compress("".join(lines).encode(), mtime=0))


def read_guesses(run: Path) -> Examples | None:
    """Return the examples of a run; None if it has none."""
    try:
        lines = files.content(run / EXAMPLES, MOST_BYTES, packed=True).decode().splitlines()
        examples = [_example(json.loads(line)) for line in lines]
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zlib.error) as bad:
        raise RunError(
            f"{run / EXAMPLES}: damaged ({bad}); put back a copy of it, or run the crawl again"
        ) from None
    texts, labels, weights = zip(*examples, strict=True) if examples else ((), (), ())
    return Examples(texts, labels, weights)


def _example(values: Any) -> tuple[str, bool, float]:
    text, relevant, weight = values["text"], values["relevant"], values["weight"]
    if not isinstance(text, str) or not isinstance(relevant, bool):
        raise ValueError("an example has no text or no label")
    return text, relevant, float(weight)
