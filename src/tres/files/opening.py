"""Opening files that may come from strangers.

Topic files, models, word vectors, examples and archives are passed around, and a path can lead
anywhere: a FIFO makes its reader wait forever, `/dev/zero` never ends, and a few megabytes of
gzip hold a line of eight gigabytes. So only regular files are opened, and opening never waits.
A file that is read as a whole has a largest size, and one that is read by lines a longest line;
both count the bytes after decompression.

A refusal is an `OSError` that says why in `strerror`, so callers treat it like any file that
cannot be read.
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
"""The largest file that is read as a whole: one written by hand, or that describes others."""
LONGEST_LINE = 32_000_000
"""The longest line of JSON: the largest page that is read fits, with every character escaped."""
GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 1 << 20


def opened(path: Path) -> io.BufferedReader:
    """Open a regular file to read; anything else is refused, without waiting."""
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def content(path: Path, most: int = MOST_BYTES, packed: bool = False) -> bytes:
    """The bytes of a whole file, at most `most`; those of a gzip file if it is `packed`."""
    data = bytearray()
    with opened(path) as file, unpacking(file, packed) as unpacked:
        while piece := unpacked.read(_BUFFER):  # all at once would take `most` bytes of memory
            data += piece
            if len(data) > most:
                raise OSError(errno.EFBIG, f"it holds more than {most:,} bytes", str(path))
    return bytes(data)


def lines(file: io.BufferedReader, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Iterate over the lines of a file; one longer than `longest` bytes is refused."""
    for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), start=1):
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"line {number} is longer than {longest:,} bytes")
        yield line


def unpacking(file: io.BufferedReader, packed: bool) -> io.BufferedReader:
    """The file, decompressed while it is read if it is `packed`."""
    if not packed:
        return file
    return io.BufferedReader(gzip.GzipFile(fileobj=file), _BUFFER)


def _at_once(path: str, flags: int) -> int:
    """A FIFO without a writer would block; systems without this flag have no FIFOs."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
