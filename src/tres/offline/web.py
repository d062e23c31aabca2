"""The interface of an offline web."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tres.web.page import Outcome, Page


class Web(Protocol):
    """A closed web: URLs that it does not have are dead links (`Failed` with 404)."""

    @property
    def name(self) -> str:
        """The name to show: a file name, or `generated:...`."""

    def fetch(self, url: str) -> Outcome:
        """Return the page at a canonical URL, or why there is none."""

    def pages(self) -> Iterator[Page]:
        """Yield every page once, in a fixed order (training samples from it)."""

    def __len__(self) -> int:
        """Number of pages."""
