"""Judging pages from anywhere: rows in, verdicts out, in order, a few at a time.

A row is read as in a crawl over an archive (`tres.offline.jsonl`), and its markup by the reader of
all crawls, so a page gets the answer that it would get there. Markup that a crawl could not read
either has no probability.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, cast

from tres.errors import ArchiveError
from tres.files import opening as files
from tres.offline.jsonl import read_rows
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.web.page import Outcome, Page

BATCH = 64
"""Pages that are in memory and judged at a time."""
STDIN = "-"

Row = tuple[str, Outcome]


class JudgedRow(NamedTuple):
    """A row, and what the model says of it."""

    url: str
    probability: float | None

    @property
    def relevant(self) -> bool:
        """Whether the page is relevant."""
        return self.probability is not None and self.probability >= THRESHOLD


def judge_file(model: RelevanceModel, name: str) -> Iterator[JudgedRow]:
    """Judge the pages of a file of JSON lines, also gzipped; "-" is standard input.

    `ArchiveError` at the first line that is not a page; the lines before it are judged.
    """
    with _opened(name) as file:
        for batch in _batches(read_rows(file, "standard input" if name == STDIN else name)):
            yield from _judge(model, batch)


def _judge(model: RelevanceModel, batch: list[Row]) -> Iterator[JudgedRow]:
    texts = [page.content for _, page in batch if isinstance(page, Page)]
    chances = iter(model.probabilities(texts).tolist() if texts else ())
    for url, page in batch:
        yield JudgedRow(url, next(chances) if isinstance(page, Page) else None)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                yield batch
                batch = []
    except ArchiveError:
        yield batch
        raise
    yield batch


@contextmanager
def _opened(name: str) -> Iterator[io.BufferedReader]:
    """Open a file, decompressed if it begins like gzip; errors say what to do."""
    try:
        with _stream(name) as file:
            yield files.unpacking(file, file.peek(2)[:2] == files.GZIP_MAGIC)
    except FileNotFoundError:
        raise ArchiveError(f"{name}: no such file; name a file of JSON lines, or -") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ArchiveError(f"{name}: is damaged ({error}); copy or download it again") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArchiveError(f"{name}: cannot be read ({reason}); check or replace it") from None


def _stream(name: str) -> AbstractContextManager[io.BufferedReader]:
    if name == STDIN:
        return nullcontext(cast(io.BufferedReader, sys.stdin.buffer))
    return files.opened(Path(name))
