"""Files that may come from strangers, opened in one way.

Topic files, models, word vectors, examples and archives are passed around, and a path can lead
anywhere: a FIFO makes its reader wait for ever, `/dev/zero` never ends, and a few megabytes of
gzip hold a line of eight gigabytes. So only regular files are opened, and opening never waits.
What is read as a whole has a largest size, and what is read line by line a longest line; both
count the bytes after decompression.

Whatever is refused is an `OSError` that says why in `strerror`. Callers that name the file in
their own error for what cannot be read need nothing more.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 16_000_000
"""Of a file that people write by hand, or that describes others: read as a whole."""
LONGEST_LINE = 32_000_000
"""Of JSON lines: the largest page that is read, with every character escaped, fits."""
GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 1 << 20


def opened(path: Path) -> io.BufferedReader:
    """A regular file to read from; anything else is refused instead of waited for."""
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def content(path: Path, most: int = MOST_BYTES) -> bytes:
    """A whole file of at most so many bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise _too_large(path, most)
        return file.read(size)


def unpacked_content(path: Path, most: int) -> bytes:
    """What a whole gzip file holds, at most so many bytes."""
    data = bytearray()
    with opened(path) as file, unpacking(file, True) as unpacked:
        while piece := unpacked.read(_BUFFER):
            data += piece
            if len(data) > most:
                raise _too_large(path, most)
    return bytes(data)


def lines(file: io.BufferedReader, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The lines of a file, none of them longer than so many bytes."""
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"line {number} is longer than {longest:,} bytes")
        yield line


def unpacking(file: io.BufferedReader, packed: bool) -> io.BufferedReader:
    """The same file, unpacked while it is read if it is gzip."""
    if not packed:
        return file
    return io.BufferedReader(gzip.GzipFile(fileobj=file), _BUFFER)


def _at_once(path: str, flags: int) -> int:
    """A FIFO that nobody writes to would block; where there is no such flag, there are no FIFOs."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _too_large(path: Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it holds more than {most:,} bytes", str(path))
