"""What all archives have in common: a complete file, of the type its name indicates.

Opening an archive reads the whole file once, so damage is found before a crawl starts. A file
that is cut short is refused; single damaged records of a WARC file are skipped, with a warning.
Pages stay as they are stored, and are parsed only when they are fetched.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tres.errors import ArchiveError
from tres.files import opening as files


class ArchiveWarning(UserWarning):
    """A part of an archive is damaged and was skipped."""


ENDINGS = (".jsonl", ".jsonl.gz", ".warc", ".warc.gz")


def check_archive_file(path: str | Path) -> Path:
    """Return the path of a file that is compressed if, and only if, its name says so."""
    path = Path(path)
    if path.is_dir():
        raise ArchiveError(f"{path}: is a directory; give one file ({', '.join(ENDINGS)})")
    with archive_errors(path), files.opened(path) as file:
        start = file.read(2)
    if not start:
        raise ArchiveError(f"{path}: is empty; save the archive again")
    if path.suffix == ".gz" and start != files.GZIP_MAGIC:
        raise ArchiveError(f"{path}: is not gzip; rename it to {path.stem} or compress it")
    if path.suffix != ".gz" and start == files.GZIP_MAGIC:
        raise ArchiveError(f"{path}: is gzip; rename it to {path.name}.gz")
    return path


@contextmanager
def archive_errors(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into an `ArchiveError`."""
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


def no_pages_error(path: Path, expected: str) -> ArchiveError:
    """Return the error for an intact archive without pages."""
    return ArchiveError(f"{path}: has no usable page; it needs {expected}")
