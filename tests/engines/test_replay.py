"""The replay engine: a web that is already here, perceived once and crawled many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.support.webs import drive

from tres.crawl.events import Demand, Done, FetchFailed, Stepped, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay_events
from tres.mdp.state import CrawlState
from tres.policies.registry import make_policy
from tres.policies.setup import PolicySettings
from tres.settings.site_caps import SiteCap
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.percept import Perceiver, Percept

HOME = "http://a.org/"


class ShortWeb:
    """Pages in a dictionary, and how often each was asked for."""

    name = "short"

    def __init__(self, links: dict[str, list[str]]) -> None:
        self._pages = {
            url: Page(
                url, url, "biology" if "good" in url else "", tuple(Link(to, to) for to in to_)
            )
            for url, to_ in links.items()
        }
        self.asked: Counter[str] = Counter()

    def fetch(self, url: str) -> Outcome:
        self.asked[url] += 1
        return self._pages.get(url, Failed(url, FailureKind.NOT_FOUND))

    def pages(self) -> Iterator[Page]:
        yield from self._pages.values()

    def __len__(self) -> int:
        return len(self._pages)


class Mentions:
    """Relevant is what mentions biology."""

    digest = "mentions"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        return np.array(["biology" in text for text in texts], np.float32)

    def save(self, directory: Path) -> None:
        raise NotImplementedError


@pytest.fixture
def web() -> ShortWeb:
    ring = {
        f"http://s{i}.org/good{i}": [
            f"http://s{(i + j) % 20}.org/good{(i + j) % 20}" for j in (1, 2, 5)
        ]
        for i in range(20)
    }
    return ShortWeb({HOME: ["http://s0.org/good0", "http://dead.org/"], **ring})


@pytest.fixture
def seen(web: ShortWeb) -> PerceivedWeb:
    return PerceivedWeb(web, Perceiver(Mentions(), KeywordMatcher(["biology"])))


def session_of(seen: PerceivedWeb, name: str = "tres", pages: int = 15) -> CrawlSession:
    crawl = CrawlState()
    policy = make_policy(PolicySettings(name), crawl, np.random.default_rng(3), seen.known)
    return CrawlSession(crawl, policy, seen.perceiver.describe_seeds([HOME]), pages, SiteCap())


def test_every_page_is_fetched_and_perceived_once_however_often_it_is_crawled(
    web: ShortWeb, seen: PerceivedWeb
) -> None:
    for _ in range(3):
        list(replay_events(session_of(seen, "breadth-first", pages=30), seen))
    assert set(web.asked.values()) == {1}
    assert len(web.asked) == 22  # the seed, twenty pages, and the dead link, which is kept too


def test_events_come_in_order_and_the_last_says_why_it_ended(seen: PerceivedWeb) -> None:
    *events, last = replay_events(session_of(seen), seen)
    assert last == Done(StopReason.BUDGET)
    assert [e.step for e in events if isinstance(e, Stepped)] == list(range(1, 16))


def test_failures_are_told_and_cost_no_step(seen: PerceivedWeb) -> None:
    session = session_of(seen, "breadth-first", pages=30)
    *events, last = replay_events(session, seen)
    assert last == Done(StopReason.FRONTIER_EXHAUSTED)
    failed = [e for e in events if isinstance(e, FetchFailed)]
    assert failed == [FetchFailed("http://dead.org/", FailureKind.NOT_FOUND, is_seed=False)]
    assert session.steps == 21


@pytest.mark.parametrize("in_flight", [1, 4, 16])
def test_a_replay_is_the_same_every_time_whatever_is_in_flight(
    seen: PerceivedWeb, in_flight: int
) -> None:
    first, second = (list(replay_events(session_of(seen), seen, in_flight)) for _ in range(2))
    assert repr(first) == repr(second)


def test_with_one_in_flight_it_is_the_plain_loop(seen: PerceivedWeb) -> None:
    *events, _ = replay_events(session_of(seen), seen)
    pages = {page.url: seen.perceive(page.url) for page in seen.web.pages()}
    assert repr(events) == repr(drive(session_of(seen), pages).events)


def test_an_interruption_between_two_events_ends_the_replay(seen: PerceivedWeb) -> None:
    session = session_of(seen)
    events = []
    for event in replay_events(session, seen, 4):
        events.append(event)
        if session.steps == 3:
            session.interrupt()
    assert events[-1] == Done(StopReason.INTERRUPTED)
    assert session.steps == 3
    assert session.in_flight > 0  # to be asked for again when the crawl is taken up


def test_foresight_knows_every_page_and_who_cites_it(seen: PerceivedWeb) -> None:
    web_graph = seen.web_graph()
    assert len(web_graph.index) == 21
    good = [url for url, i in web_graph.index.items() if web_graph.relevant[i]]
    assert len(good) == 20
    names = list(web_graph.index)
    target = web_graph.index["http://s7.org/good7"]
    citing = web_graph.citing_pages(np.array([target], np.int32))
    assert sorted(names[i] for i in citing) == [
        "http://s2.org/good2",
        "http://s5.org/good5",
        "http://s6.org/good6",
    ]


def test_a_page_that_failed_is_no_percept(seen: PerceivedWeb) -> None:
    assert isinstance(seen.perceive(HOME), Percept)
    assert seen.perceive("http://x/") == Failed("http://x/", FailureKind.NOT_FOUND)


def test_a_crawl_that_is_interrupted_while_it_chooses_takes_nothing_more_in(
    seen: PerceivedWeb,
) -> None:
    session = session_of(seen)
    choose = session.next

    def interrupted(k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        if session.steps == 3:
            session.interrupt()
        return choose(k, waiting)

    session.next = interrupted  # type: ignore[method-assign]
    *_, last = replay_events(session, seen, 4)
    assert last == Done(StopReason.INTERRUPTED)
    assert session.steps == 3
