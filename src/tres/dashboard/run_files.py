"""Files of a run, looked at from outside: have they changed, and when?

Nothing here opens a file. A crawl writes meanwhile, and files may come and go between two looks;
one that is not there has never changed.
"""

from __future__ import annotations

from pathlib import Path

Mark = tuple[int, ...]


def changes_of(*files: Path) -> list[float]:
    """When those of these files that are there were changed last, in seconds of the epoch."""
    found = []
    for file in files:
        try:
            found.append(file.stat().st_mtime)
        except OSError:
            continue
    return found


def mark_of(directory: Path, *names: str) -> Mark:
    """Changes whenever one of these files does; begins with the identity of the first."""
    facts: list[int] = []
    for name in names:
        try:
            status = (directory / name).stat()
        except OSError:
            facts += (0, 0, 0)
        else:
            facts += (status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(facts)


def without_path(message: str, directory: Path) -> str:
    """A message for a browser: it names the run, not where it lies."""
    named = message.replace(str(directory), directory.name) if directory.name else message
    parent = directory.parent
    return named.replace(str(parent), "...") if parent.name else named
