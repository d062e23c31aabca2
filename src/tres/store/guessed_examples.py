"""The examples of a model that was trained without labels: `examples.jsonl.gz`, one per line.

    {"text": "...", "relevant": true, "weight": 3.0, "site": "example.org"}

`site` is left out where the sites of the examples are not known.
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
    names = ("text", "relevant", "weight", "site")
    columns = [guesses.texts, guesses.labels, guesses.weights or ()]
    columns += [] if guesses.sites is None else [guesses.sites]
    rows = zip(*columns, strict=True)
    lines = [json.dumps(dict(zip(names, row, strict=False))) + "\n" for row in rows]
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
    texts, labels, weights, sites = zip(*examples, strict=True) if examples else ((),) * 4
    return Examples(texts, labels, weights, None if None in sites else sites)


def _example(values: Any) -> tuple[str, bool, float, str | None]:
    text, relevant, weight = values["text"], values["relevant"], values["weight"]
    if not isinstance(text, str) or not isinstance(relevant, bool):
        raise ValueError("an example has no text or no label")
    if not isinstance(site := values.get("site"), str | None):
        raise ValueError("the site of an example is no text")
    return text, relevant, float(weight), site
