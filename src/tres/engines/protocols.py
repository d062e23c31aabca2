"""What an engine drives (`Session`), and what a live fetch adds to its outcome (`Fetched`).

Between two steps it asks how the crawl is steered (`Steering`, for `tres steer`).

An engine knows neither store nor policy: it asks a session for URLs, fetches them and hands the
outcomes back. The session may be the decision core itself, or a wrapper that writes every outcome
into a journal before it counts. Orders are carried out behind `Steering`, because an engine knows
neither inboxes nor journals: it needs to know only whether it may ask for more, and which sites are
blocked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

from tres.crawl.events import Demand, Event


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
    """How a fetch went, for the journal only: no policy learns from it.

    Times are seconds since the epoch.
    """

    at: float
    seconds: float = 0.0
    status: int = 0
    size: int = 0
    title: str = ""
    fingerprint: int | None = None
    note: str = ""
    backs_off_until: tuple[str, float] | None = None
    """After a failure: the site that backs off, and until when."""
    exchange: Exchange | None = None


class Session(Protocol):
    """What an engine drives: it asks for URLs and learns from their outcomes.

    A crawl, a crawl that writes a journal, or an exploration. Outcomes are what the engine's
    reader gives: percepts in a crawl, pages in an exploration.
    """

    @property
    def interrupted(self) -> bool:
        """Has the session been told to choose nothing more?"""

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Choose up to `k` more URLs to fetch, none of a site in `waiting`."""

    def receive(self, url: str, outcome: Any) -> list[Event]:
        """Take the outcome of a URL that `next` has asked for."""

    def interrupt(self) -> None:
        """Choose nothing more; fetches in flight may still be received."""


class LiveSession(Session, Protocol):
    """A session that is also told how each fetch went."""

    def receive(self, url: str, outcome: Any, fetched: Fetched | None = None) -> list[Event]:
        """Take the outcome of a URL that `next` has asked for, and record the fetch."""


class Steering(Protocol):
    """What an engine asks between two steps; by default no orders ever come."""

    @property
    def paused(self) -> bool:
        """May nothing new be fetched? Fetches in flight still finish."""
        return False

    def carry_out_orders(self) -> bool:
        """Carry out the orders that have come since the last call; return whether any had.

        Quick enough for every step: before `next_orders_in()` has passed it does nothing.
        """
        return False

    def next_orders_in(self) -> float:
        """Seconds until orders are looked for again."""
        return inf

    def sleep(self) -> None:
        """Sleep until then: for an engine that has nothing else to do."""
        return

    def is_blocked(self, site: str) -> bool:
        """Has the user blocked this site?"""
        return False


class Unsteered(Steering):
    """Steering for a crawl that nobody steers."""


UNSTEERED = Unsteered()
