"""What a search engine is to a crawler: a query goes in, pages of hits come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Hit(NamedTuple):
    """One result: a canonical URL, and what the engine knows of the page's text."""

    url: str
    text: str


@runtime_checkable
class SearchEngine(Protocol):
    """Answers queries."""

    def search(self, query: Sequence[str], page: int) -> list[Hit]:
        """The hits of a result page, counted from 0, best first; all words must occur."""
