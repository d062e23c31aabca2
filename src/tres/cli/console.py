"""Consoles for output. Text from pages is never read as markup."""

from __future__ import annotations

from rich.console import Console


def console() -> Console:
    """Return the console for results: standard output."""
    return Console(markup=False, highlight=False, emoji=False)


def messages(quiet: bool = False) -> Console:
    """Return the console for progress: standard error, so that results can be piped."""
    return Console(stderr=True, quiet=quiet, markup=False, highlight=False, emoji=False)
