"""The replay engine: crawls an offline web as fast as decisions can be made.

Percepts are computed once per page and kept, so comparing many policies over many seeds costs
decisions, not text processing. With several fetches in flight the oldest comes back first, so a
replay is deterministic for every number of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from tres.crawl.events import Done, Event, Fetch, StopReason, Wait
from tres.engines.protocols import UNSTEERED, Session, Steering
from tres.offline.bm25 import SimulatedSearch
from tres.offline.web import Web
from tres.policies.setup import OfflineKnowledge, WebGraph
from tres.relevance.model import RelevanceModel
from tres.web.page import Failed, Page
from tres.web.percept import Perceiver, Percept


class Perceiving(Protocol):
    """Returns the percept of a URL."""

    def perceive(self, url: str) -> Percept | Failed: ...


class PerceivedWeb:
    """An offline web and the perceiver of a topic; every page is perceived once."""

    def __init__(self, web: Web, perceiver: Perceiver) -> None:
        self.web = web
        self.perceiver = perceiver
        self._percepts: dict[str, Percept | Failed] = {}
        self._all: list[Percept] | None = None
        self._labels: dict[str, tuple[str, ...]] = {}
        self._web_graph: WebGraph | None = None
        self._engines: dict[float, SimulatedSearch] = {}

    def perceive(self, url: str) -> Percept | Failed:
        """Return the percept of the page at a URL, or its failure."""
        known = self._percepts.get(url)
        if known is None:
            outcome = self.web.fetch(url)
            known = self._perceive_page(outcome) if isinstance(outcome, Page) else outcome
            self._percepts[url] = known
        return known

    def perceive_all(self) -> list[Percept]:
        """Return the percepts of all pages."""
        if self._all is None:
            self._all = [self._perceive_page(page) for page in self.web.pages()]
        return self._all

    def labelled(self, test: Callable[[Iterable[str]], bool]) -> set[str]:
        """Return the pages whose labels pass the test; for training and evaluation only."""
        self.perceive_all()
        return {url for url, labels in self._labels.items() if test(labels)}

    def _perceive_page(self, page: Page) -> Percept:
        self._labels[page.url] = page.labels
        known = self._percepts.get(page.url)
        if not isinstance(known, Percept):
            known = self._percepts[page.url] = self.perceiver.judge_page(page)
        return known

    def web_graph(self) -> WebGraph:
        """Return the graph of all pages, for policies that may know them beforehand."""
        if self._web_graph is None:
            self._web_graph = WebGraph.of(self.perceive_all())
        return self._web_graph

    def search_engine(self, share: float) -> SimulatedSearch:
        """Return a simulated search engine that indexes this share of the pages."""
        if share not in self._engines:
            self._engines[share] = SimulatedSearch(self.web.pages(), share)
        return self._engines[share]

    @property
    def known(self) -> OfflineKnowledge:
        """What some policies may know beyond what a crawl shows."""
        return OfflineKnowledge(self.web_graph, self.search_engine)

    def judge_by(self, model: RelevanceModel) -> None:
        """Judge by another model from now on: every page is perceived anew."""
        self.perceiver = replace(self.perceiver, model=model)
        self._percepts.clear()
        self._all = self._web_graph = None


def replay_events(
    session: Session, web: Perceiving, in_flight: int = 1, steering: Steering = UNSTEERED
) -> Iterator[Event | Done]:
    """Drive a session, and yield its events as they happen; the last is `Done`.

    Fetches take no time here, so an interrupted crawl ends at once: URLs without an outcome are
    asked for again, and the resumed crawl is the one that was never interrupted.
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
        if session.interrupted:  # by a signal just now, so perhaps too few URLs were chosen
            break
        url = fetching.popleft()
        yield from session.receive(url, web.perceive(url))
    yield Done(StopReason.INTERRUPTED)
