"""What may be shown in a terminal, and when.

Titles and URLs come from a hostile Web: control characters could move the cursor, change
colours or fake output. Whatever a page wrote passes through `printable` first.
"""

from __future__ import annotations

from rich.console import Console


def printable(text: str) -> str:
    """The text with everything but visible characters and blanks written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def console() -> Console:
    """Where results go. Nothing in them is read as markup."""
    return Console(markup=False, highlight=False, emoji=False)


def messages() -> Console:
    """Where progress and remarks go, so that results can be piped."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)
