"""Engines look up between two steps: nothing is asked for in a pause, and all goes on after it."""

from __future__ import annotations

from math import inf

import pytest
from tests.engines.test_flights import TOLD, Clock, Listed, chosen
from tests.support.crawls import perceiver, session_of
from tests.support.local_web import OfflineWeb, html
from tests.support.steering import Scripted

from tres.crawl.events import Done, Stepped, StopReason
from tres.engines.flights import Flights
from tres.engines.politeness.clock import PolitenessClock
from tres.engines.protocols import UNSTEERED
from tres.engines.replay import PerceivedWeb, replay_events
from tres.settings.sections import LiveSection

RING = {
    f"http://s{i}.org/": html("", "biology", [f"http://s{(i + j) % 20}.org/" for j in (1, 3)])
    for i in range(20)
}


@pytest.fixture
def seen() -> PerceivedWeb:
    offline = OfflineWeb(RING)
    return PerceivedWeb(offline, perceiver())


class TestReplay:
    def test_a_pause_lets_time_pass_and_the_crawl_is_the_same(self, seen: PerceivedWeb) -> None:
        def pause_twice(controller: Scripted) -> bool:
            controller.paused = controller.looks in (3, 4, 7)
            return True

        plain = list(replay_events(session_of(RING, 15), seen, 2))
        controller = Scripted(pause_twice, every=0.0)
        paused = list(replay_events(session_of(RING, 15), seen, 2, controller))
        assert paused[-1] == Done(StopReason.BUDGET)
        assert repr(paused) == repr(plain)
        assert controller.rests == 3

    def test_nothing_is_requested_while_paused(self, seen: PerceivedWeb) -> None:
        session = session_of(RING, 15)
        steps: list[int] = []

        def pause(controller: Scripted) -> bool:
            controller.paused = 5 <= controller.looks < 10
            if controller.paused:
                steps.append(session.steps)
            return True

        list(replay_events(session, seen, steering=Scripted(pause, every=0.0)))
        assert steps == [steps[0]] * 5
        assert session.steps == 15

    def test_an_interrupt_ends_a_pause(self, seen: PerceivedWeb) -> None:
        session = session_of(RING, 15)

        def pause_for_ever(controller: Scripted) -> bool:
            controller.paused = session.steps >= 4
            if controller.looks > 8:
                session.interrupt()
            return True

        controller = Scripted(pause_for_ever, every=0.0)
        *_, last = replay_events(session, seen, steering=controller)
        assert last == Done(StopReason.INTERRUPTED)
        assert session.steps == 4

    def test_another_relevance_model_counts_from_the_next_page_on(self, seen: PerceivedWeb) -> None:
        class Nothing(type(seen.perceiver.model)):  # type: ignore[misc]
            def probabilities(self, texts):  # type: ignore[no-untyped-def]
                return super().probabilities(texts) * 0

        session = session_of(RING, 15)

        def change(controller: Scripted) -> bool:
            if session.steps == 6:
                seen.judge_by(Nothing())
            return True

        events = list(replay_events(session, seen, 3, Scripted(change, every=0.0)))
        steps = [event.relevant for event in events if isinstance(event, Stepped)]
        assert steps == [True] * 6 + [False] * 9


class TestFlights:
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    def flights(self, crawl: Listed, clock: Clock, controller: Scripted, k: int = 2) -> Flights:
        politeness = PolitenessClock(LiveSection(delay=1.0, throttle=False))
        return Flights(crawl, politeness, k, clock=clock, steering=controller)

    def test_while_paused_no_flight_opens_and_open_flights_finish(self, clock: Clock) -> None:
        crawl = Listed("http://a.org/", "http://b.org/", "http://c.org/")
        controller = Scripted(clock=clock, every=0.2)
        flights = self.flights(crawl, clock, controller)
        first, second = chosen(flights), chosen(flights)
        controller.paused = True
        flights.finish(first, "page", TOLD)
        assert flights.choose() is None
        flights.finish(second, "page", TOLD)
        assert flights.choose() is None
        assert crawl.asked == 2
        assert not flights.over  # there is nothing in flight, but it is no end
        controller.paused = False
        assert chosen(flights).url == "http://c.org/"

    def test_the_engine_wakes_to_look_for_orders_whatever_it_waits_for(self, clock: Clock) -> None:
        crawl = Listed("http://a.org/1", "http://a.org/2")
        controller = Scripted(clock=clock, every=0.2)
        flights = self.flights(crawl, clock, controller, k=1)
        flight = chosen(flights)
        assert flights.wakes_in() == pytest.approx(0.2)  # though there is no room for another
        controller.paused = True
        clock.now += 0.15
        assert flights.wakes_in() == pytest.approx(0.05)
        flights.finish(flight, "page", TOLD)
        assert flights.wakes_in() == pytest.approx(0.05)
        crawl.urls = []
        controller.paused = False
        assert flights.choose() is None
        assert flights.wakes_in() == inf  # it is over

    def test_an_unsteered_crawl_wakes_for_no_orders(self, clock: Clock) -> None:
        politeness = PolitenessClock(LiveSection(delay=1.0, throttle=False))
        flights = Flights(Listed("http://a.org/"), politeness, clock=clock, steering=UNSTEERED)
        chosen(flights)
        assert flights.wakes_in() == inf

    def test_after_an_order_a_waiting_session_is_asked_again(self, clock: Clock) -> None:
        crawl = Listed("http://a.org/1", "http://a.org/2")
        ordered: list[str] = []

        def stop(controller: Scripted) -> bool:
            if ordered:
                crawl.interrupt()
            return bool(ordered)

        flights = self.flights(crawl, clock, Scripted(stop, clock=clock, every=0.2))
        flights.finish(chosen(flights), "page", TOLD)
        assert flights.choose() is None
        assert crawl.asked == 2
        clock.now += 0.2  # the site is not ready yet
        assert flights.choose() is None
        assert crawl.asked == 2
        ordered.append("stop")
        clock.now += 0.2
        assert flights.choose() is None
        assert flights.over

    def test_an_exception_in_an_order_is_a_fault(self, clock: Clock) -> None:
        def full(controller: Scripted) -> bool:
            raise OSError("no space")

        flights = self.flights(Listed("http://a.org/"), clock, Scripted(full, clock=clock))
        assert flights.choose() is None
        assert isinstance(flights.fault, OSError)
        assert flights.over
