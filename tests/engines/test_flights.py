"""What is in flight, without any engine: who is asked when, and that everything lands once."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import pytest

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason, Wait
from tres.engines.flights import Flight, Flights
from tres.engines.politeness.clock import PolitenessClock, ServerResponse
from tres.engines.protocols import Fetched
from tres.settings.sections import LiveSection
from tres.web.page import Failed, FailureKind

TOLD = Fetched(0.0)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Listed:
    """Asks for the URLs of a list whose site is ready, in order."""

    def __init__(self, *urls: str) -> None:
        self.urls = list(urls)
        self.asked = 0
        self.received: list[tuple[str, Any]] = []

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        self.asked += 1
        if not self.urls:
            return Done(StopReason.FRONTIER_EXHAUSTED)
        blocked = set(waiting)
        ready = [url for url in self.urls if url.split("/")[2] not in blocked][:k]
        self.urls = [url for url in self.urls if url not in ready]
        return Fetch(tuple(ready)) if ready else Wait()

    def receive(self, url: str, outcome: Any, fetched: Fetched | None = None) -> list[Event]:
        self.received.append((url, outcome))
        return []

    def interrupt(self) -> None:
        self.urls = []


@pytest.fixture
def clock() -> Clock:
    return Clock()


def flights_of(crawl: Listed, clock: Clock, k: int = 1, **live: Any) -> Flights:
    settings = LiveSection(**{"delay": 1.0, "throttle": False, **live})
    return Flights(crawl, PolitenessClock(settings), k, clock=clock, max_wait=settings.max_wait)


def chosen(flights: Flights) -> Flight:
    flight = flights.choose()
    assert flight is not None
    return flight


def test_at_most_k_flights_are_open(clock: Clock) -> None:
    crawl = Listed("http://a.org/", "http://b.org/", "http://c.org/")
    flights = flights_of(crawl, clock, k=2)
    first = chosen(flights)
    chosen(flights)
    assert flights.choose() is None
    assert crawl.asked == 2
    flights.finish(first, "page", TOLD)
    assert chosen(flights).url == "http://c.org/"


def test_a_waiting_site_is_skipped_until_it_is_ready(clock: Clock) -> None:
    crawl = Listed("http://a.org/1", "http://a.org/2", "http://b.org/")
    flights = flights_of(crawl, clock, k=3)
    assert [chosen(flights).url for _ in range(2)] == ["http://a.org/1", "http://b.org/"]
    assert flights.choose() is None
    for flight in flights:
        flights.finish(flight, "page", TOLD)
    assert flights.choose() is None
    assert flights.wakes_in() == 1.0
    clock.now += 1.0
    assert chosen(flights).url == "http://a.org/2"


def test_a_session_that_waits_is_asked_again_only_after_a_change(clock: Clock) -> None:
    crawl = Listed("http://a.org/1", "http://a.org/2")
    flights = flights_of(crawl, clock, k=2)
    first = chosen(flights)
    for _ in range(5):
        assert flights.choose() is None
    assert crawl.asked == 2
    flights.finish(first, "page", TOLD)
    assert flights.choose() is None
    assert crawl.asked == 3


def test_a_flight_finishes_once(clock: Clock) -> None:
    crawl = Listed("http://a.org/")
    flights = flights_of(crawl, clock)
    flight = chosen(flights)
    flights.finish(flight, "page", TOLD)
    flights.finish(flight, "another", TOLD)
    flights.fail(flight, FailureKind.DROPPED, "lost")
    assert crawl.received == [("http://a.org/", "page")]
    assert flights.get("http://a.org/") is None


def test_the_politeness_clock_learns_of_responses_by_site(clock: Clock) -> None:
    flights = flights_of(Listed("http://a.org/"), clock)
    flight = chosen(flights)
    flight.response = ServerResponse(302)
    flights.end_hop(flight)
    flights.start_hop(flight, "b.org")
    flight.response = ServerResponse(503, retry_after=40.0)
    flights.finish(flight, Failed(flight.url, FailureKind.THROTTLED), TOLD)
    assert flights.ready_in("a.org") == 1.0
    assert flights.ready_in("b.org") == 40.0


def test_it_is_over_when_the_session_is_done_and_all_flights_have_finished(clock: Clock) -> None:
    flights = flights_of(Listed("http://a.org/"), clock, k=2)
    flight = chosen(flights)
    assert flights.choose() is None
    assert flights.reason is StopReason.FRONTIER_EXHAUSTED
    assert not flights.over
    flights.finish(flight, "page", TOLD)
    assert flights.over


def test_after_a_fault_the_session_is_neither_asked_nor_told(clock: Clock) -> None:
    crawl = Listed("http://a.org/", "http://b.org/", "http://c.org/")
    flights = flights_of(crawl, clock, k=2)
    first, second = chosen(flights), chosen(flights)

    def full(*_: Any) -> list[Event]:
        raise OSError("no space")

    crawl.receive = full  # type: ignore[method-assign]
    flights.finish(first, "page", TOLD)
    assert isinstance(flights.fault, OSError)
    crawl.receive = Listed.receive.__get__(crawl)  # type: ignore[method-assign]
    flights.finish(second, "page", TOLD)
    assert crawl.received == []
    assert flights.choose() is None
    assert flights.over


def test_an_interrupt_wakes_the_engine(clock: Clock) -> None:
    flights = flights_of(Listed("http://a.org/1", "http://a.org/2"), clock)
    flights.finish(chosen(flights), "page", TOLD)
    assert flights.choose() is None
    woken = []
    flights.wake = lambda: woken.append(True)
    flights.interrupt()
    assert woken
    assert flights.choose() is None
    assert flights.over


def test_unread_pages_of_one_site_leave_room_for_others(clock: Clock) -> None:
    hostile = [f"http://a.org/{number}" for number in range(10)]
    flights = flights_of(Listed(*hostile, "http://b.org/"), clock, k=8, delay=0.0)
    with ExitStack() as unread:
        for _ in range(2):
            unread.enter_context(flights.reading(chosen(flights)))
        assert chosen(flights).url == "http://b.org/"
    assert chosen(flights).url == hostile[2]


def test_a_session_that_waits_is_asked_again_while_a_page_is_read(clock: Clock) -> None:
    crawl = Listed("http://a.org/", "http://a.org/2")
    flights = flights_of(crawl, clock, k=2)
    woken: list[float] = []
    flights.wake = lambda: woken.append(flights.wakes_in())
    first = chosen(flights)
    assert flights.choose() is None
    clock.now += 5
    with flights.reading(first):
        assert woken == [0.0]
        assert chosen(flights).url == "http://a.org/2"


def test_a_site_whose_pages_cost_too_much_is_paused_with_a_warning(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    flights = flights_of(Listed("http://a.org/1", "http://b.org/"), clock, k=2)
    flights.charge("http://a.org/", 7.8)
    assert "took 7.8 s of processor time to read; pausing a.org for 68 s" in caplog.text
    assert chosen(flights).url == "http://b.org/"
    clock.now += 69
    flights.wake()
    assert chosen(flights).url == "http://a.org/1"


def refused(flights: Flights, retry_after: float) -> None:
    flight = chosen(flights)
    flight.response = ServerResponse(503, retry_after=retry_after)
    flights.finish(flight, Failed(flight.url, FailureKind.THROTTLED, retryable=True), TOLD)


def test_a_crawl_waits_for_a_short_back_off(clock: Clock) -> None:
    flights = flights_of(Listed("http://a.org/1", "http://a.org/2"), clock, max_wait=60.0)
    refused(flights, 60.0)
    assert flights.choose() is None
    assert (flights.reason, flights.wakes_in()) == (None, 60.0)
    clock.now += 60.0
    assert chosen(flights).url == "http://a.org/2"


def test_a_crawl_ends_if_all_remaining_sites_back_off_for_too_long(clock: Clock) -> None:
    urls = "http://a.org/1", "http://b.org/", "http://a.org/2"
    crawl = Listed(*urls)
    flights = flights_of(crawl, clock, k=2, max_wait=60.0)
    refused(flights, 100.0)
    other = chosen(flights)
    assert other.url == "http://b.org/"
    assert flights.choose() is None
    assert flights.reason is None  # as long as anything is in flight, there may be more
    flights.finish(other, "page", TOLD)
    clock.now += 0.9
    assert flights.choose() is None
    clock.now += 0.1  # now only a.org is left to wait for
    assert flights.choose() is None
    assert flights.reason is StopReason.SITES_DOWN
    assert flights.over
    assert crawl.urls == ["http://a.org/2"]


def test_a_failure_records_until_when_its_site_backs_off(clock: Clock) -> None:
    crawl = Listed("http://a.org/")
    told = []
    crawl.receive = lambda url, outcome, fetched: told.append(fetched) or []  # type: ignore
    flights = flights_of(crawl, clock)
    began = time.time()
    refused(flights, 3600.0)
    (fetched,) = told
    assert fetched.backs_off_until[0] == "a.org"
    assert began + 3600 <= fetched.backs_off_until[1] <= time.time() + 3600
