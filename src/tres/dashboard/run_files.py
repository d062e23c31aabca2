"""The files of a run, seen from outside.

A crawl may be writing, so files may come and go between two looks; a missing file has never
changed.
"""

from __future__ import annotations

from pathlib import Path


def modification_times(*files: Path) -> list[float]:
    """Return when the existing files among these last changed, in seconds of the epoch."""
    times = []
    for file in files:
        try:
            times.append(file.stat().st_mtime)
        except OSError:
            continue
    return times


def hide_path(message: str, directory: Path) -> str:
    """Return a message with the name of the run instead of its path."""
    named = message.replace(str(directory), directory.name) if directory.name else message
    parent = directory.parent
    return named.replace(str(parent), "...") if parent.name else named
