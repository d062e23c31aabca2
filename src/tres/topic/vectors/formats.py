"""Files of word vectors, in the usual formats, recognised by their content.

    GloVe text       word 0.1 -0.2 ...                         one line per word
    word2vec text    400000 50, then lines as above            fastText's .vec is the same
    word2vec binary  400000 50, then: word, blank, dim floats  little-endian, 4 bytes each

Each may be compressed with gzip. A first line of two whole numbers is a header; the rest is text
if the second line is a word and as many numbers as the header says, else binary. Some entries of
GloVe contain blanks, so a line is split from its end.

Files are read in blocks, as the usual ones have gigabytes. The number of entries in a block and the
length of an entry are bounded, so memory does not depend on the size of the file.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tres.errors import VectorsError
from tres.files import opening as files
from tres.topic.vectors.cache import Block, Source

BLOCK = 4096
"""Entries read at once."""

LONGEST_LINE, LONGEST_WORD, MOST_NUMBERS = 1 << 20, 2000, 10_000
KINDS = "GloVe text, word2vec text or binary, or fastText .vec"


def file_source(path: Path) -> Source:
    """Return a file as a source; its key in the cache is its digest, not its path."""
    with _file_errors(path), files.opened(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(path.name, str(path), f"file-{digest[:16]}")


def read_vectors(path: Path) -> Iterator[Block]:
    """Yield all entries of a file, block by block; `VectorsError` says what is wrong with it."""
    with _file_errors(path), files.opened(path) as packed, _unpacking(packed) as file:
        first = file.readline(LONGEST_LINE)
        header = _header(first)
        if header is None:
            yield from _text(file, [first], _dimension(first))
            return
        count, dim = header
        second = file.readline(LONGEST_LINE)
        if _is_entry(second, dim):
            blocks = _text(file, [second], dim, lines_before=1)
        else:
            file.seek(len(first))
            blocks = _binary(file, count, dim)
        yield from _counted(blocks, count)


def _unpacking(file: BufferedReader) -> BufferedReader:
    packed = file.read(2) == files.GZIP_MAGIC
    file.seek(0)
    return files.unpacking(file, packed)


def _header(line: bytes) -> tuple[int, int] | None:
    """Return the number of words and the dimension, if the line is a header."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    count, dim = map(int, fields)
    if dim > MOST_NUMBERS:
        raise ValueError(f"its header says {dim:,} numbers per word; the limit is {MOST_NUMBERS:,}")
    return (count, dim) if dim else None


def _dimension(line: bytes) -> int:
    """Return how many fields at the end of a line are numbers; the first one is the word."""
    fields = line.rstrip().split(b" ")
    dim = 0
    while dim < len(fields) - 1 and _is_number(fields[-1 - dim]):
        dim += 1
    if dim < 2:
        raise ValueError("line 1 is not a word and its numbers")
    if dim > MOST_NUMBERS:
        raise ValueError(f"line 1 has {dim:,} numbers; the limit is {MOST_NUMBERS:,}")
    return dim


def _is_entry(line: bytes, dim: int) -> bool:
    fields = line.rstrip().rsplit(b" ", dim)
    return len(fields) == dim + 1 and all(map(_is_number, fields[1:]))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _text(file: IO[bytes], read: list[bytes], dim: int, lines_before: int = 0) -> Iterator[Block]:
    """Yield blocks of lines; `read` are the lines that have been read already."""
    lines = enumerate(chain(read, iter(lambda: file.readline(LONGEST_LINE), b"")), lines_before + 1)
    while some := list(islice(lines, BLOCK)):
        entries, rows = [], []
        for number, line in some:
            if line.strip():
                fields = line.rstrip().rsplit(b" ", dim)
                entries.append(_decoded(fields[0]))
                rows.append(_row(fields[1:], dim, number))
        yield entries, np.array(rows, np.float32).reshape(-1, dim)


def _row(fields: list[bytes], dim: int, number: int) -> NDArray[np.float32]:
    try:
        return np.fromiter(map(float, fields), np.float32, dim)
    except ValueError:
        raise ValueError(f"line {number} is not a word and {dim} numbers") from None


def _binary(file: IO[bytes], count: int, dim: int) -> Iterator[Block]:
    """Yield blocks of binary entries; a line feed may follow each of them."""
    for start in range(0, count, BLOCK):
        entries, rows = [], []
        for number in range(start + 1, min(start + BLOCK, count) + 1):
            word, values = _until_blank(file), file.read(4 * dim)
            if len(values) != 4 * dim:
                raise ValueError(f"entry {number} of {count} is cut short")
            entries.append(_decoded(word.lstrip(b"\n")))
            rows.append(np.frombuffer(values, "<f4"))
        yield entries, np.array(rows)


def _until_blank(file: IO[bytes]) -> bytes:
    word = bytearray()
    while (byte := file.read(1)) not in (b" ", b""):
        word += byte
        if len(word) > LONGEST_WORD:
            raise ValueError("neither text nor binary follows the header")
    return bytes(word)


def _counted(blocks: Iterator[Block], count: int) -> Iterator[Block]:
    """Yield the blocks, and raise if their entries are not as many as the header says."""
    found = 0
    for entries, rows in blocks:
        found += len(entries)
        yield entries, rows
    if found != count:
        raise ValueError(f"its header says {count} words, but it has {found}")


def _decoded(word: bytes) -> str:
    """Return a word; bytes that are not UTF-8 become a character that is in no word."""
    return word.decode(errors="replace")


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or problem
        raise VectorsError(f"{path}: cannot be read ({reason}); give {KINDS}") from None
    except (ValueError, EOFError, zlib.error) as problem:
        raise VectorsError(
            f"{path}: is not a file of word vectors ({problem}); give {KINDS}"
        ) from None
