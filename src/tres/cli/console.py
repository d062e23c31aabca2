"""Where output goes. Nothing that a page wrote is ever read as markup."""

from __future__ import annotations

from rich.console import Console


def console() -> Console:
    """Results."""
    return Console(markup=False, highlight=False, emoji=False)


def messages(quiet: bool = False) -> Console:
    """Progress and remarks: standard error, so that results can be piped."""
    return Console(stderr=True, quiet=quiet, markup=False, highlight=False, emoji=False)
