"""The politeness clock: which sites must wait, and until when."""

from __future__ import annotations

from math import inf
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.engines.politeness.clock import (
    DAY,
    DEAD_LINKS,
    HOUR,
    TRUSTED,
    PolitenessClock,
    ServerResponse,
)
from tres.settings.sections import LiveSection
from tres.web.page import FailureKind


def politeness(**settings: object) -> PolitenessClock:
    return PolitenessClock(LiveSection(**{"delay": 1.0, "throttle": False, **settings}))  # type: ignore[arg-type]


def finish(
    clock: PolitenessClock,
    site: str,
    now: float,
    failed: FailureKind | None = None,
    **response: float | None,
) -> None:
    clock.request_finished(site, now, ServerResponse(**response), failed)  # type: ignore[arg-type]


def test_a_site_waits_for_its_delay_and_others_do_not():
    clock = politeness(delay=2.0)
    clock.request_started("a", 10.0)
    finish(clock, "a", 10.5, status=200)
    assert clock.waiting(11.9) == ["a"]
    assert clock.next_change(11.9) == 12.0
    assert clock.ready_at("b", 11.9) == 11.9
    assert clock.waiting(12.0) == []
    assert clock.next_change(12.0) is None


def test_a_site_with_enough_in_flight_waits_until_something_is_back():
    clock = politeness(delay=0.0, per_site=2)
    clock.request_started("a", 0.0)
    assert clock.waiting(0.0) == []
    clock.request_started("a", 0.0)
    assert clock.waiting(100.0) == ["a"]
    assert clock.ready_at("a", 100.0) == inf
    assert clock.next_change(100.0) is None
    finish(clock, "a", 101.0, status=200)
    assert clock.waiting(101.0) == []


def test_the_delay_counts_from_the_moment_a_request_is_sent():
    clock = politeness(delay=1.0)
    clock.request_started("a", 0.0)
    clock.request_sent("a", 0.7)
    finish(clock, "a", 0.8, status=200)
    assert clock.ready_at("a", 0.8) == 1.7


def test_robots_txt_may_ask_for_a_longer_delay_but_not_for_a_shorter_one():
    clock = politeness(delay=1.0)
    clock.set_crawl_delay("a", 5.0, 0.0)
    clock.set_crawl_delay("b", 0.1, 0.0)
    for site in ("a", "b"):
        clock.request_started(site, 0.0)
        finish(clock, site, 0.1, status=200)
    assert (clock.ready_at("a", 0.1), clock.ready_at("b", 0.1)) == (5.0, 1.0)


def test_each_further_request_of_a_flight_takes_a_turn_of_its_own():
    clock = politeness(delay=1.0, per_site=3)
    clock.request_started("a", 0.0)
    assert [clock.take_turn("a", 0.2), clock.take_turn("a", 0.3)] == [1.0, 2.0]
    assert clock.ready_at("a", 0.3) == 3.0


def test_the_delay_follows_the_latency_up_and_down_within_its_bounds():
    clock = politeness(delay=1.0, max_delay=8.0, throttle=True)
    for start, latency, expected in (
        (0, 5, 3),
        (100, 5, 4),
        (200, 100, 8),
        (300, 0, 4),
        (400, 0, 2),
    ):
        clock.request_started("a", start)
        finish(clock, "a", start, latency=latency, status=200)
        assert clock.ready_at("a", start) - start == expected
    for start in (500, 600, 700):
        clock.request_started("a", start)
        finish(clock, "a", start, latency=0, status=200)
    assert clock.ready_at("a", 700) == 701


def test_errors_are_quick_and_lower_no_delay():
    clock = politeness(delay=1.0, throttle=True)
    clock.request_started("a", 0.0)
    finish(clock, "a", 0.0, latency=9.0, status=200)
    clock.request_started("a", 100.0)
    finish(clock, "a", 100.0, latency=0.0, status=500)
    assert clock.ready_at("a", 100.0) == 105.0


def test_retry_after_is_obeyed():
    clock = politeness()
    clock.request_started("a", 0.0)
    finish(clock, "a", 1.0, status=503, retry_after=120.0)
    assert clock.ready_at("a", 1.0) == 121.0


def test_who_asks_for_an_hour_and_more_waits_for_as_long_and_for_a_day_at_most():
    clock = politeness()
    for site, asked in (("a", HOUR + 1), ("b", 10 * DAY)):
        clock.request_started(site, 0.0)
        finish(clock, site, 1.0, status=429, retry_after=asked)
    assert clock.waiting(2.0) == ["a", "b"]
    assert (clock.ready_at("a", 2.0), clock.ready_at("b", 2.0)) == (HOUR + 2, DAY + 1)
    assert clock.next_change(2.0) == HOUR + 2


def test_who_says_come_back_at_once_for_ever_is_believed_for_a_while_only():
    clock, now = politeness(), 0.0
    for _ in range(TRUSTED):
        clock.request_started("a", now)
        finish(clock, "a", now, status=503, retry_after=0.0)
        assert not clock.is_backing_off("a", now)
        now += 1.0
    clock.request_started("a", now)
    finish(clock, "a", now, status=503, retry_after=0.0)
    assert clock.ready_at("a", now) == now + 5 * 2**TRUSTED


def test_refusals_and_dead_hosts_back_off_twice_as_long_each_time():
    for told in ({"status": 429}, {"failed": FailureKind.TIMEOUT}):
        clock, waits = politeness(), []
        for start in (0.0, 1000.0, 2000.0):
            clock.request_started("a", start)
            finish(clock, "a", start, **told)  # type: ignore[arg-type]
            waits.append(clock.ready_at("a", start) - start)
        assert waits == [5.0, 10.0, 20.0]


def probes(clock: PolitenessClock, outage: float, failed: dict[str, object]) -> float:
    """When a site answers first that is away for so long and asked whenever it is ready."""
    now = 0.0
    while now < outage:
        clock.request_started("a", now)
        finish(clock, "a", now, **failed)  # type: ignore[arg-type]
        assert clock.waiting(now) == ["a"]  # nobody chooses its links meanwhile
        now = clock.ready_at("a", now)
    clock.request_started("a", now)
    finish(clock, "a", now, status=200)
    return now


def test_an_outage_costs_about_its_own_length():
    for told in ({"status": 503}, {"status": 502}, {"failed": FailureKind.NO_CONNECTION}):
        assert probes(politeness(delay=0.2), 25.0, dict(told)) == 31.0
        assert probes(politeness(delay=1.0), 25.0, dict(told)) == 35.0


def test_a_dead_host_is_asked_no_more_than_once_an_hour_and_an_answer_ends_that():
    clock = politeness()
    back = probes(clock, 10 * HOUR, {"failed": FailureKind.NO_CONNECTION})
    assert 10 * HOUR <= back <= 11 * HOUR
    clock.request_started("a", back + 1)
    finish(clock, "a", back + 1, failed=FailureKind.TIMEOUT)
    assert clock.ready_at("a", back + 1) == back + 6


def test_failures_that_come_while_a_site_rests_belong_to_the_same_outage():
    clock = politeness(delay=0.0, per_site=8)
    for _ in range(8):
        clock.request_started("a", 0.0)
    for _ in range(8):
        finish(clock, "a", 0.5, failed=FailureKind.NO_CONNECTION)
    assert clock.ready_at("a", 0.5) == 1.5


def test_a_good_answer_that_comes_late_does_not_undo_what_a_site_asks_for():
    clock = politeness(delay=0.0, per_site=2)
    clock.request_started("a", 0.0)
    clock.request_started("a", 0.0)
    finish(clock, "a", 1.0, status=429, retry_after=120.0)
    finish(clock, "a", 2.0, status=200)
    assert clock.ready_at("a", 2.0) == 121.0


def test_a_site_that_asked_to_be_left_alone_in_an_earlier_crawl_rests():
    clock = politeness()
    clock.back_off_until("a", 60.0, 10.0)
    clock.back_off_until("b", 5.0, 10.0)
    assert clock.waiting(10.0) == ["a"]
    assert clock.ready_at("a", 10.0) == 60.0


def test_a_failure_of_a_page_is_no_failure_of_its_site():
    clock = politeness()
    for start in range(0, 100, 10):
        clock.request_started("a", start)
        finish(clock, "a", start, failed=FailureKind.TOO_LARGE)
        assert clock.ready_at("a", start) == start + 1


HAPPENINGS = st.lists(
    st.tuples(
        st.floats(0, 3),
        st.sampled_from("abc"),
        st.sampled_from(["go", "go", "ok", "slow", "429", "503", "dead", "robots", "turn", "sent"]),
    ),
    max_size=80,
)


@given(HAPPENINGS, st.sampled_from([0.0, 0.5, 2.0]), st.integers(1, 3), st.booleans())
def test_whatever_happens_delays_and_limits_are_kept(happenings, delay, per_site, throttle):
    clock = politeness(delay=delay, per_site=per_site, throttle=throttle)
    now, asked = 0.0, dict.fromkeys("abc", 0.0)
    last, away = dict.fromkeys("abc", -inf), dict.fromkeys("abc", 0)
    for passed, site, what in happenings:
        now += passed
        if what == "go" and site not in clock.waiting(now):
            assert now - last[site] >= max(delay, asked[site]) - 1e-9
            assert away[site] < per_site
            clock.request_started(site, now)
            last[site], away[site] = now, away[site] + 1
        elif what == "robots":
            clock.set_crawl_delay(site, passed, now)
            asked[site] = max(asked[site], passed)
        elif what == "sent" and away[site]:
            clock.request_sent(site, now)
            last[site] = max(last[site], now)
        elif what == "turn" and away[site]:
            at = clock.take_turn(site, now)
            assert at >= max(now, last[site] + max(delay, asked[site])) - 1e-9
            last[site] = at
        elif what in ("ok", "slow", "429", "503", "dead") and away[site]:
            away[site] -= 1
            told = {"429": {"status": 429}, "503": {"status": 503, "retry_after": passed}}
            dead = {"failed": FailureKind.NO_CONNECTION}
            good = {"status": 200, "latency": 4.0 * (what == "slow")}
            finish(clock, site, now, **told.get(what, dead if what == "dead" else good))
        check_what_it_says(clock, now)


def check_what_it_says(clock: PolitenessClock, now: float) -> None:
    waiting = clock.waiting(now)
    ends = [clock.ready_at(site, now) for site in waiting]
    assert all(end > now for end in ends)
    finite = [end for end in ends if end < inf]
    change = clock.next_change(now)
    assert change == (min(finite) if finite else None)
    ready = [site for site in "abc" if site not in waiting]
    assert all(clock.ready_at(site, now) == now for site in ready)


def test_a_choice_costs_by_the_sites_that_wait_not_by_all_ever_seen():
    clock = politeness(delay=1.0)
    for index in range(100_000):
        clock.request_started(f"site{index}", index / 1000)
        finish(clock, f"site{index}", index / 1000, status=200)
    assert len(clock.waiting(100.0)) <= 1001
    began = process_time()
    for step in range(1000):
        clock.waiting(102.0 + step)
    assert process_time() - began < 1.0


def test_without_a_delay_slow_answers_delay_nothing() -> None:
    politeness = PolitenessClock(LiveSection(delay=0.0, throttle=True))
    for now in range(5):
        politeness.request_started("slow.example", float(now))
        finish(politeness, "slow.example", now + 0.5, latency=0.5, status=200)
        assert politeness.waiting(now + 0.5) == []


class TestReading:
    def test_a_site_rests_until_its_slow_pages_have_taken_a_tenth_of_the_time(self):
        clock = politeness(delay=0.0)
        assert clock.charge_reading("a", 0.9, 100.0) == 0.0  # once is not too much
        assert clock.charge_reading("a", 10.0, 100.0) == pytest.approx(99.0)
        assert clock.waiting(198.9) == ["a"]
        assert clock.next_change(198.9) == pytest.approx(199.0)
        assert clock.waiting(199.1) == []
        assert clock.charge_reading("a", 10.0, 300.0) < 100.0  # part of the first is forgiven
        assert clock.charge_reading("b", 0.2, 300.0) == 0.0

    def test_slow_is_what_takes_far_longer_than_is_usual(self):
        clock = politeness(delay=0.0)
        rests = [clock.charge_reading(f"{n}.example", 2.0, float(n)) for n in range(60)]
        assert any(rests[:5])
        assert not any(rests[20:])  # with this model all pages take so long
        assert clock.charge_reading("a", 30.0, 100.0) > 0

    def test_pages_that_wait_to_be_read_keep_their_site_waiting(self):
        clock = politeness(delay=0.0)
        clock.add_unread("a", 1, 0.0)
        assert clock.waiting(0.0) == []
        clock.add_unread("a", 1, 0.0)
        assert clock.waiting(5.0) == ["a"]
        clock.add_unread("a", -1, 6.0)
        assert clock.waiting(6.0) == []


def located(clock: PolitenessClock, *sites: str, now: float = 0.0) -> list[bool]:
    """These sites are asked for the first time, and found at one address; which may go on?"""
    went_on = []
    for site in sites:
        clock.request_started(site, now)
        went_on.append(clock.set_address(site, "192.0.2.1", now))
    return went_on


def test_an_address_has_no_more_in_flight_than_so_many_sites_would_have():
    clock = politeness(delay=0.0, per_site=2, per_address=2)
    assert located(clock, "a", "b", "c", "d", "e") == [True, True, True, True, False]
    finish(clock, "e", 0.0)  # it goes back to wait
    assert sorted(clock.waiting(0.0)) == ["a", "b", "c", "d", "e"]
    assert clock.ready_at("e", 5.0) == inf
    assert clock.ready_at("elsewhere", 5.0) == 5.0
    finish(clock, "a", 6.0, status=200)
    assert clock.waiting(6.0) == []


def test_requests_to_an_address_are_spaced_though_they_are_for_many_sites():
    clock = politeness(delay=1.0, per_address=4)
    assert located(clock, "a", "b") == [True, False]
    finish(clock, "b", 0.0)
    assert clock.next_change(0.0) == 0.25
    assert (clock.ready_at("a", 0.0), clock.ready_at("b", 0.0)) == (inf, 1.0)
    finish(clock, "a", 0.1, status=200)
    assert located(clock, "c", now=0.3) == [True]
    assert not clock.only_backing_off(0.3)


def test_a_page_after_its_robots_txt_waits_for_its_turn_at_the_address():
    clock = politeness(delay=1.0, per_address=4)
    located(clock, "a")
    located(clock, "b", now=0.9)
    assert clock.take_turn("a", 0.95) == 1.15
    assert clock.take_turn("b", 0.95) == 1.9


def test_without_a_limit_nobody_asks_where_a_site_is():
    assert not politeness(per_address=0).lacks_address("a")
    clock = politeness(per_address=4)
    assert clock.lacks_address("a")
    located(clock, "a")
    assert not clock.lacks_address("a")


def asked(clock: PolitenessClock, now: float, status: int) -> float:
    """Ask a site when it is ready; the delay that follows."""
    start = clock.ready_at("a", now)
    clock.request_started("a", start)
    finish(clock, "a", start, status=status)
    return clock.ready_at("a", start) - start


def test_a_site_whose_links_are_dead_is_asked_less_and_less_often():
    clock = politeness(delay=1.0, max_delay=60.0)
    now, delays = 0.0, []
    for _ in range(DEAD_LINKS + 8):
        delays.append(asked(clock, now, 404))
        now = clock.ready_at("a", now)
    assert delays[:DEAD_LINKS] == [1.0] * DEAD_LINKS
    assert delays[DEAD_LINKS:] == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert not clock.is_backing_off("a", now)  # it is slow, not down: nobody ends a crawl for it
    assert asked(clock, now, 200) == 1.0
    assert asked(clock, now + 61, 404) == 1.0


def test_where_nobody_minds_dead_links_delay_nothing():
    clock = politeness(delay=0.0)
    assert [asked(clock, float(now), 404) for now in range(30)] == [0.0] * 30
