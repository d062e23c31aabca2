"""Which pages need a browser.

A browser is slow, so it renders only URLs that match a pattern of the user's and, if detection is
on, pages that are application shells: scripts, and next to no text. This is decided when the page
arrives, from the page alone. So no page is fetched twice, nothing has to be remembered about sites,
and a resumed crawl decides as an uninterrupted one would have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tres.settings.sections import LiveSection

SHELL_CHARS = 200
"""A page with at least this many characters of text is not a shell."""

LOOK_BYTES = 300_000
"""Only this much of a page is looked at, so that no page can stop the crawl."""

_TOKEN = re.compile(rb"<(/?)([a-z]*)[^<>]*>?|[^<]+", re.IGNORECASE)  # linear on any input
_SILENT = {b"script", b"style", b"noscript", b"template", b"title", b"svg", b"textarea"}


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at HTML shows: whether it has scripts, and how much text.

    Counting ends at `SHELL_CHARS`.
    """

    text_chars: int
    has_script: bool

    @classmethod
    def at(cls, html: bytes) -> Look:
        """Look at a page; malformed HTML is counted roughly, but never fails."""
        chars, has_script, silent = 0, False, b""
        for tag, closing, text in _tokens(html[:LOOK_BYTES]):
            if silent:
                silent = b"" if closing and tag == silent else silent
            elif tag in _SILENT and not closing:
                silent, has_script = tag, has_script or tag == b"script"
            else:
                chars += len(b"".join(text.split()))
            if chars >= SHELL_CHARS:
                break
        return cls(chars, has_script)

    @property
    def is_shell(self) -> bool:
        """Is this page empty until its scripts have run?"""
        return self.has_script and self.text_chars < SHELL_CHARS


def _tokens(html: bytes) -> Iterator[tuple[bytes, bool, bytes]]:
    """Yield tags (name, closing, no text) and text (no name, not closing, text) in order."""
    for token in _TOKEN.finditer(html):
        if token[2] is None:
            yield b"", False, token[0]
        else:
            yield token[2].lower(), bool(token[1]), b""


class Rendering:
    """Which pages of one crawl are rendered."""

    def __init__(self, live: LiveSection) -> None:
        self.detect = live.javascript_detect
        self._patterns = [re.compile(pattern) for pattern in live.javascript]

    @property
    def possible(self) -> bool:
        """May any page need a browser?"""
        return self.detect or bool(self._patterns)

    def wants(self, url: str, html: bytes) -> bool:
        """Is this page to be rendered?"""
        if any(pattern.search(url) for pattern in self._patterns):
            return True
        return self.detect and Look.at(html).is_shell
