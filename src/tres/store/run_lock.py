"""The lock of a run: one process writes to a run directory at a time.

It is a lock on the directory itself, so that it ends with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tres.errors import RunError

PATIENCE = 0.5
"""Seconds for which a lock is tried: another process may just be testing it."""
_BETWEEN_TRIES = 0.02


class LockedError(RunError):
    """Another process writes to this run."""


@contextmanager
def lock_run(path: Path) -> Iterator[None]:
    """Hold the lock of a run; `LockedError` if another process has it."""
    directory = os.open(path, os.O_RDONLY)
    try:
        if not _try_lock(directory, time.monotonic() + PATIENCE):
            raise LockedError(
                f"{path}: another tres is crawling there; wait until it has ended, or stop it"
            )
        yield
    finally:
        os.close(directory)


def is_locked(path: Path) -> bool:
    """Whether a process writes to this run; the test is too short to keep another from locking."""
    try:
        directory = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(directory)
    return False


def _try_lock(directory: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_BETWEEN_TRIES)
        else:
            return True
