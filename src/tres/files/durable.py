"""Files that survive a power cut.

The kernel keeps what a program writes in memory until it is synced, and may write it out in any
order. So a file is replaced in four steps: write the new content beside it, sync that, rename it
over the old one, sync the directory. After a power cut the file is then the old one or the new
one, never an empty or a half one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def replace_file(file: Path, content: bytes) -> None:
    """Replace a file in one piece; it is on disk when this returns."""
    replace_parts(file, [content])


def replace_parts(file: Path, parts: Iterable[bytes]) -> None:
    """The same, for content that comes in parts."""
    unfinished = file.with_name(f"{file.name}.part")
    try:
        write_synced(unfinished, parts)
        unfinished.replace(file)
    except OSError:  # a full disk needs the room more
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(file.parent)


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
    """Bring to disk what anybody has written to a file; nothing to do if it is not there."""
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
