"""The interface of a search engine: a query goes in, pages of hits come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Hit(NamedTuple):
    """One result: a canonical URL, and the text of the page as far as the engine has it."""

    url: str
    text: str


@runtime_checkable
class SearchEngine(Protocol):
    """Answers queries."""

    def search(self, query: Sequence[str], page: int) -> list[Hit]:
        """Return the hits on a result page (the first is 0), best first; all words must occur."""
