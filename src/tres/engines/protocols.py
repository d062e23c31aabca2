"""What an engine drives, and what a live fetch leaves beside its percept.

An engine knows no store: it asks whatever is `Crawling` for URLs and hands back what came of
them. That may be a session itself, or a session whose every word is written into a journal
before it counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tres.crawl.events import Demand, Event
from tres.web.page import Failed
from tres.web.percept import Percept


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request and its response, as they went over the wire: what a WARC keeps.

    `request_head` and `response_head` are the first line and the headers, up to and with the
    empty line; `body` is as it was sent, still compressed, but no longer cut into chunks.
    """

    url: str
    request_head: bytes
    response_head: bytes
    body: bytes
    address: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """How a fetch went. Times are seconds since the epoch; nothing of this is ever learnt from."""

    at: float
    seconds: float = 0.0
    status: int = 0
    size: int = 0
    title: str = ""
    fingerprint: int | None = None
    note: str = ""
    rests: tuple[str, float] | None = None
    """After a failure: a site that must be left alone, and until when."""
    exchange: Exchange | None = None


class Crawling(Protocol):
    """Asks for URLs and takes what came of them."""

    @property
    def in_flight(self) -> int:
        """Fetches that have not come back yet."""

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Up to `k` more URLs to fetch, none of a site named in `waiting`."""

    def receive(
        self, url: str, outcome: Percept | Failed, fetched: Fetched | None = None
    ) -> list[Event]:
        """What came of a URL that `next` had asked for."""

    def interrupt(self) -> None:
        """Choose nothing more; what is in flight may still come back."""
