"""Consoles for output, and names of files. Text from pages is never read as markup."""

from __future__ import annotations

from rich.console import Console


def console() -> Console:
    """Return the console for results: standard output."""
    return Console(markup=False, highlight=False, emoji=False)


def messages(quiet: bool = False) -> Console:
    """Return the console for progress: standard error, so that results can be piped."""
    return Console(stderr=True, quiet=quiet, markup=False, highlight=False, emoji=False)


def file_name(name: str) -> str:
    """Return a name with hyphens for all but letters and digits, safe in a path."""
    return "".join(c if c.isalnum() else "-" for c in name)
