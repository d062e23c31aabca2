"""Errors of a run that say how to go on with it."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tres.errors import RunError, SeedError, printable


def command_to_resume(run: Path) -> str:
    """The command that goes on with a run."""
    return f"tres resume {shlex.quote(str(run))}"


@contextmanager
def resume_hint(run: Path) -> Iterator[None]:
    """Add to any error that ends a crawl how to go on: its journal is whole."""
    try:
        yield
    except (RunError, SeedError):
        raise  # these say themselves what to do
    except Exception as error:
        again = command_to_resume(run)
        error.add_note(printable(f"the pages fetched so far are kept; continue: {again}"))
        raise


@contextmanager
def write_errors(run: Path, remedy: str = "") -> Iterator[None]:
    """Turn errors of a disk that takes nothing more into a `RunError` that says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        go_on = f"free some space, then: {command_to_resume(run)}"
        raise RunError(f"{run}: cannot be written ({reason}); {remedy or go_on}") from error
