"""The interface of every web that can be crawled without the Internet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tres.web.page import Outcome, Page


class Web(Protocol):
    """A closed web: what it does not hold is a dead link (`Failed` with 404)."""

    @property
    def name(self) -> str:
        """How people call it: a file name, or `generated:...`."""

    def fetch(self, url: str) -> Outcome:
        """The page at a canonical URL, or why there is none."""

    def pages(self) -> Iterator[Page]:
        """Every page once, in a fixed order (training samples from this)."""

    def __len__(self) -> int:
        """Number of pages."""
