"""What all archives have in common: a file that is whole and is what its name says.

An archive that is cut short is not opened. Reading goes through the whole file
once, so damage is found before a crawl starts and not in the middle of it; a WARC file in
which single records are damaged is read without them, with a warning. Pages are kept as
they are stored and taken apart only when they are fetched.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tres.errors import ArchiveError
from tres.files import opening as files


class ArchiveWarning(UserWarning):
    """A part of an archive cannot be read, and was left out."""


ENDINGS = (".jsonl", ".jsonl.gz", ".warc", ".warc.gz")
GZIP_MAGIC = files.GZIP_MAGIC


def checked_path(path: str | Path) -> Path:
    """The path of an archive that exists and is compressed exactly if its name says so."""
    path = Path(path)
    if path.is_dir():
        raise ArchiveError(f"{path}: is a directory; give one file ({', '.join(ENDINGS)})")
    with readable(path), files.opened(path) as file:
        start = file.read(2)
    if not start:
        raise ArchiveError(f"{path}: is empty; save the archive again")
    if path.suffix == ".gz" and start != GZIP_MAGIC:
        raise ArchiveError(f"{path}: is not gzip; rename it to {path.stem} or compress it")
    if path.suffix != ".gz" and start == GZIP_MAGIC:
        raise ArchiveError(f"{path}: is gzip; rename it to {path.name}.gz")
    return path


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What goes wrong while a file is read, as an `ArchiveError`."""
    try:
        yield
    except FileNotFoundError:
        raise ArchiveError(f"{path}: no such file; check the path given as the web") from None
    except EOFError:
        raise ArchiveError(f"{path}: is cut short; copy or download it again") from None
    except zlib.error as error:
        raise ArchiveError(f"{path}: is damaged ({error}); copy or download it again") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArchiveError(f"{path}: cannot be read ({reason}); check or replace it") from None


def no_pages(path: Path, expected: str) -> ArchiveError:
    """The archive is sound, but there is nothing in it to crawl."""
    return ArchiveError(f"{path}: holds no usable page; it needs {expected}")
