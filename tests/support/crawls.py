"""A session over pages about biology, a record of its calls, and a reader of its pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from tres.crawl.events import Demand, Event, Fetch, Postponed
from tres.crawl.session import CrawlSession
from tres.engines.protocols import Fetched
from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.engines.reading.reader_pool import Charge
from tres.engines.reading.tasks import Task, perform
from tres.mdp.state import CrawlState
from tres.policies.registry import OfflineKnowledge, make_policy
from tres.policies.setup import PolicySettings, WebGraph
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed
from tres.web.percept import Perceiver, Percept

T = TypeVar("T")


class Mentions:
    """A model for which every text that mentions biology is relevant."""

    digest = "mentions"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        return np.array(["biology" in text for text in texts], np.float32)

    def save(self, directory: Path) -> None:
        raise NotImplementedError


def perceiver() -> Perceiver:
    return Perceiver(Mentions(), KeywordMatcher(["biology"]))


def session_of(
    seeds: Iterable[str], pages: int = 100, policy: str = "tres", seed: int = 3
) -> CrawlSession:
    crawl = CrawlState()
    rng = np.random.default_rng(seed)
    chosen = make_policy(
        PolicySettings(policy), crawl, rng, OfflineKnowledge(lambda: WebGraph.of(()))
    )
    return CrawlSession(crawl, chosen, perceiver().describe_seeds(seeds), pages)


class RecordedCalls:
    """A session as an engine sees it, and a record of every call.

    It asserts what an engine must keep to: each URL comes back once, unless it was postponed.
    """

    def __init__(self, session: CrawlSession) -> None:
        self.session = session
        self.calls: list[tuple[str, str]] = []
        self.outcomes: dict[str, Percept | Failed] = {}
        self.fetched: dict[str, Fetched] = {}
        self.postponed: list[str] = []
        self.most_in_flight = 0

    @property
    def in_flight(self) -> int:
        return self.session.in_flight

    @property
    def asked(self) -> list[str]:
        return [url for name, url in self.calls if name == "ask"]

    @property
    def received(self) -> list[str]:
        return [url for name, url in self.calls if name == "receive"]

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        demand = self.session.next(k, waiting)
        if isinstance(demand, Fetch):
            self.calls += [("ask", url) for url in demand.urls]
            self.most_in_flight = max(self.most_in_flight, self.session.in_flight)
        return demand

    def receive(
        self, url: str, outcome: Percept | Failed, fetched: Fetched | None = None
    ) -> list[Event]:
        assert fetched is not None, url
        assert url not in self.outcomes or url in self.postponed, f"{url} came back twice"
        self.calls.append(("receive", url))
        self.outcomes[url], self.fetched[url] = outcome, fetched
        events = self.session.receive(url, outcome)
        self.postponed += [event.url for event in events if isinstance(event, Postponed)]
        return events

    def interrupt(self) -> None:
        self.session.interrupt()


class InlineReader:
    """Reads in this process."""

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self.charge: Charge = lambda url, seconds: None

    async def read(self, received: Received) -> Reading:
        return self._reader.read(received)

    async def ask(self, task: Task[T]) -> T:
        return task.decode(perform(self._reader, task.message()))


def inline_reader(section: LiveSection) -> InlineReader:
    return InlineReader(PageReader(perceiver(), section, 2026))
