"""The replay engine: crawl a web that is already here, as fast as decisions can be taken.

Percepts are computed once per page and kept, so that comparing many policies over many
seeds costs decisions, not text processing. With several fetches in flight the oldest one
comes back first, so a replay is deterministic for every k.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason, Wait
from tres.policies.oracle import Foresight
from tres.web.page import Failed, Page
from tres.web.percept import Perceiver, Percept
from tres.webs.base import Web


class Perceiving(Protocol):
    """Gives the percept of a URL."""

    def perceive(self, url: str) -> Percept | Failed: ...


class Replayable(Protocol):
    """What is driven here: a session, or one that writes everything down."""

    @property
    def interrupted(self) -> bool: ...

    def next(self, k: int = 1) -> Demand: ...

    def receive(self, url: str, outcome: Percept | Failed) -> list[Event]: ...


class PerceivedWeb:
    """A web seen through one perceiver; every page is perceived once."""

    def __init__(self, web: Web, perceiver: Perceiver) -> None:
        self.web = web
        self.perceiver = perceiver
        self._seen: dict[str, Percept | Failed] = {}

    def perceive(self, url: str) -> Percept | Failed:
        """The percept of the page at a URL, or why there is none."""
        known = self._seen.get(url)
        if known is None:
            outcome = self.web.fetch(url)
            known = self.perceiver.page(outcome) if isinstance(outcome, Page) else outcome
            self._seen[url] = known
        return known

    def foresee(self) -> Foresight:
        """Perceive every page, for those who may know all of them beforehand."""
        percepts = (self.perceive(page.url) for page in self.web.pages())
        return Foresight.of(p for p in percepts if isinstance(p, Percept))


def replay(
    session: Replayable,
    seen: Perceiving,
    in_flight: int = 1,
    listener: Callable[[Event], None] = lambda event: None,
) -> StopReason:
    """Drive a session to its end; every event goes to the listener.

    Nothing is ever really on its way here, so an interrupted crawl ends at once: what was asked
    for stays to be asked for again, and the crawl that goes on is the one never interrupted.
    """
    fetching: deque[str] = deque()
    while not session.interrupted:
        match session.next(in_flight - len(fetching)):
            case Fetch(urls):
                fetching.extend(urls)
            case Done(reason):
                return reason
            case Wait():
                pass
        url = fetching.popleft()
        for event in session.receive(url, seen.perceive(url)):
            listener(event)
    return StopReason.INTERRUPTED
