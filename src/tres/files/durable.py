"""Files that are replaced in one piece and survive a power cut.

The kernel keeps what a program writes in memory until it is synced, and may write it out in any
order. So a file is replaced in four steps: write the new content beside it, sync that, rename it
over the old one, sync the directory. After a power cut the file is then the old one or the new
one, never empty or half written. This is the only module that writes a temporary file and renames
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".part"
"""The suffix of a file that is being written; one that a kill has left behind may be deleted."""


@contextmanager
def atomic_replace(file: Path, durable: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside a file; what is written there then takes its place.

    After an error the file is as it was. Without `durable`, nothing is synced: readers never meet
    half a file, but a power cut may leave one.
    """
    unfinished = file.with_name(f"{file.name}{UNFINISHED}")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        if durable:
            sync_file(unfinished)
        unfinished.replace(file)
    except BaseException:  # a full disk needs the room more
        unfinished.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(file.parent)


def replace_file(file: Path, content: bytes, durable: bool = True) -> None:
    """Replace a file in one piece; if `durable`, it is on disk when this returns."""
    replace_parts(file, [content], durable)


def replace_parts(file: Path, parts: Iterable[bytes], durable: bool = True) -> None:
    """Do the same with content that comes in parts."""
    with atomic_replace(file, durable) as unfinished, unfinished.open("wb") as opened:
        opened.writelines(parts)


def write_synced(file: Path, parts: Iterable[bytes]) -> None:
    """Write a file and sync it; its name is on disk once its directory is synced."""
    with file.open("wb") as opened:
        opened.writelines(parts)
        opened.flush()
        os.fsync(opened.fileno())


def sync_directory(directory: Path) -> None:
    """Bring the names in a directory to disk: new, renamed and removed ones."""
    _sync(directory, os.O_RDONLY)


def sync_file(file: Path) -> None:
    """Bring to disk what any process has written to a file; nothing if there is no such file."""
    try:
        _sync(file, os.O_RDWR)
    except FileNotFoundError:
        return


def _sync(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
