"""The replay engine: crawl a web that is already here, as fast as decisions can be taken.

Percepts are computed once per page and kept, so that comparing many policies over many
seeds costs decisions, not text processing. With several fetches in flight the oldest one
comes back first, so a replay is deterministic for every k.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from tres.crawl.events import Done, Event, Fetch, StopReason, Wait
from tres.engines.protocols import Session
from tres.engines.steering import UNSTEERED, Steering
from tres.offline.bm25 import SimulatedSearch
from tres.offline.web import Web
from tres.policies.oracle import CitationGraph
from tres.policies.registry import OfflineKnowledge
from tres.relevance.model import RelevanceModel
from tres.web.page import Failed, Page
from tres.web.percept import Perceiver, Percept


class Perceiving(Protocol):
    """Gives the percept of a URL."""

    def perceive(self, url: str) -> Percept | Failed: ...


class PerceivedWeb:
    """A web seen through one perceiver; every page is perceived once."""

    def __init__(self, web: Web, perceiver: Perceiver) -> None:
        self.web = web
        self.perceiver = perceiver
        self._seen: dict[str, Percept | Failed] = {}
        self._all: list[Percept] | None = None
        self._labels: dict[str, tuple[str, ...]] = {}
        self._foresight: CitationGraph | None = None
        self._engines: dict[float, SimulatedSearch] = {}

    def perceive(self, url: str) -> Percept | Failed:
        """The percept of the page at a URL, or why there is none."""
        known = self._seen.get(url)
        if known is None:
            outcome = self.web.fetch(url)
            known = self._see(outcome) if isinstance(outcome, Page) else outcome
            self._seen[url] = known
        return known

    def perceive_all(self) -> list[Percept]:
        """The percepts of all pages, each computed once."""
        if self._all is None:
            self._all = [self._see(page) for page in self.web.pages()]
        return self._all

    def labelled(self, test: Callable[[Iterable[str]], bool]) -> set[str]:
        """The pages whose labels pass the test; only training and judging may ask."""
        self.perceive_all()
        return {url for url, labels in self._labels.items() if test(labels)}

    def _see(self, page: Page) -> Percept:
        self._labels[page.url] = page.labels
        known = self._seen.get(page.url)
        if not isinstance(known, Percept):
            known = self._seen[page.url] = self.perceiver.page(page)
        return known

    def foresee(self) -> CitationGraph:
        """For those who may know all pages beforehand."""
        if self._foresight is None:
            self._foresight = CitationGraph.of(self.perceive_all())
        return self._foresight

    def search_engine(self, share: float) -> SimulatedSearch:
        """A simulated search engine that knows this share of the pages; made once."""
        if share not in self._engines:
            self._engines[share] = SimulatedSearch(self.web.pages(), share)
        return self._engines[share]

    @property
    def known(self) -> OfflineKnowledge:
        """For policies that may know more than a crawl shows."""
        return OfflineKnowledge(self.foresee, self.search_engine)


class Judged:
    """A web as the present judge of a crawl sees it; the judge may be another from now on."""

    def __init__(self, seen: PerceivedWeb) -> None:
        self._seen = seen

    def perceive(self, url: str) -> Percept | Failed:
        """The percept of the page at a URL, or why there is none."""
        return self._seen.perceive(url)

    def judge_by(self, model: RelevanceModel) -> None:
        """Perceive every page anew from now on."""
        self._seen = PerceivedWeb(self._seen.web, replace(self._seen.perceiver, model=model))


def replay(
    session: Session,
    seen: Perceiving,
    in_flight: int = 1,
    listener: Callable[[Event], None] = lambda event: None,
    steering: Steering = UNSTEERED,
) -> StopReason:
    """Drive a session to its end; every event goes to the listener."""
    return drained(replaying(session, seen, in_flight, steering), listener)


def drained(events: Iterator[Event | Done], listener: Callable[[Event], None]) -> StopReason:
    """Why the events of a crawl end; until then each goes to the listener."""
    for event in events:
        if isinstance(event, Done):
            return event.reason
        listener(event)
    raise AssertionError("a replay ends with Done")


def replaying(
    session: Session, seen: Perceiving, in_flight: int = 1, steering: Steering = UNSTEERED
) -> Iterator[Event | Done]:
    """The events of a crawl, one by one as they happen; the last is `Done`.

    Nothing is ever really on its way here, so an interrupted crawl ends at once: what was asked
    for stays to be asked for again, and the crawl that goes on is the one never interrupted.
    """
    fetching: deque[str] = deque()
    while not session.interrupted:
        steering.carry_out_orders()
        if steering.paused:
            steering.sleep()
            continue
        match session.next(in_flight - len(fetching)):
            case Fetch(urls):
                fetching.extend(urls)
            case Done() as done:
                yield done
                return
            case Wait():
                pass
        if session.interrupted:  # since a moment ago, so perhaps too little was chosen
            break
        url = fetching.popleft()
        yield from session.receive(url, seen.perceive(url))
    yield Done(StopReason.INTERRUPTED)
