"""Which pages need a browser.

A browser is slow, so it is used only where it is needed: for URLs that the user names by a
pattern, and, if detection is on, for pages that are application shells: scripts, and next to
no text. The page itself decides, at the moment when it arrives and before anything is read
from it. So no page is fetched twice, nothing has to be remembered about sites, and a resumed
crawl decides as the crawl would have done without the interruption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tres.settings.sections import LiveSection

SHELL_CHARS = 200
"""A page with at least so many characters of text is no shell."""

LOOK_BYTES = 300_000
"""A look goes no further into a page: the worst that a page can be must not stop the crawl."""

_TOKEN = re.compile(rb"<(/?)([a-z]*)[^<>]*>?|[^<]+", re.IGNORECASE)  # linear on any input
_SILENT = {b"script", b"style", b"noscript", b"template", b"title", b"svg", b"textarea"}


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at HTML shows: does it run scripts, and how much does it say?

    Counting ends at `SHELL_CHARS`: more is not worth the time.
    """

    text_chars: int
    has_script: bool

    @classmethod
    def at(cls, html: bytes) -> Look:
        """Look at a page. Badly made pages are counted roughly, but never fail."""
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
    """Tags (name, closing, no text) and text (no name, not closing, text) in their order."""
    for token in _TOKEN.finditer(html):
        if token[2] is None:
            yield b"", False, token[0]
        else:
            yield token[2].lower(), bool(token[1]), b""


class Rendering:
    """The rule of one crawl."""

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
