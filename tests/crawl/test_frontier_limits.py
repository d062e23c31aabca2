"""Links are bounded: of a page, of a site and in all. The worst are dropped, and it is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support.webs import To, drive, page, start, web_of

from tres.crawl.events import Fetch, LinksLimited
from tres.crawl.frontier_limits import LinkLimits, WaitingLinks
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.policies.setup import PolicySettings
from tres.web.percept import Percept

BREADTH_FIRST = PolicySettings("breadth-first", "citations")


def endless(url: str, links: int = 10) -> Percept:
    """A page of a site of which every page has links that nobody has seen."""
    new = (To(f"{url}{place}", anchor_relevance=place / links) for place in range(links))
    return page(url, 0.9, *new)


def crawl_on(session: CrawlSession, pages: int) -> list[object]:
    """Crawl the endless site; every event that was no page."""
    events: list[object] = []
    for _ in range(pages):
        demand = session.next()
        assert isinstance(demand, Fetch)
        events += session.receive(demand.urls[0], endless(demand.urls[0]))[1:]
    return events


def test_of_a_page_the_best_links_count():
    web = web_of(page("a/0", 0.9, To("a/1", 0.1), To("a/2", 0.8), To("a/3", 0.1), To("b/4", 0.5)))
    session = start(web, ["a/0"], BREADTH_FIRST, limits=LinkLimits(links_per_page=3))
    run = drive(session, web)
    assert run.asked == ["a/0", "a/1", "a/2", "b/4"]  # in the order of the page; a/3 ties and loses
    assert session.dropped == {"links_per_page": 1}
    assert [event for event in run.events if isinstance(event, LinksLimited)] == [
        LinksLimited("links_per_page", "a")
    ]


def test_a_page_with_too_many_links_is_told_of_once_wherever_they_lead():
    web = web_of(page("a/0", 0.9, *(f"{n}.example/" for n in range(50))))
    session = start(web, ["a/0"], BREADTH_FIRST, limits=LinkLimits(links_per_page=3))
    limited = [event for event in drive(session, web).events if isinstance(event, LinksLimited)]
    assert limited == [LinksLimited("links_per_page", "a")]
    assert session.dropped == {"links_per_page": 47}


def test_of_a_site_no_more_links_wait_than_it_may_have():
    session = start({}, ["a/"], limits=LinkLimits(frontier_per_site=25))
    events = crawl_on(session, 30)
    assert len(session.policy) == 25
    assert session.dropped == {"frontier_per_site": 30 * 10 - 25 - 29}
    assert events.count(LinksLimited("frontier_per_site", "a")) == 1


def test_a_full_site_takes_nothing_from_the_others():
    web = web_of(page("a/0", 0.9, *(f"a/{n}" for n in range(1, 9)), "b/1", "b/2"))
    session = start(web, ["a/0"], BREADTH_FIRST, limits=LinkLimits(frontier_per_site=3))
    assert drive(session, web).asked == ["a/0", "a/1", "a/2", "a/3", "b/1", "b/2"]


def test_what_does_not_enter_costs_no_memory():
    session = start({}, ["a/"], limits=LinkLimits(frontier_per_site=25))
    crawl_on(session, 30)
    assert len(session.crawl.urls) == 30 + 25


def test_in_all_no_more_links_wait_than_may():
    session = start({}, ["a/", "b/", "c/"], limits=LinkLimits(frontier_size=40))
    events = crawl_on(session, 30)
    assert len(session.policy) == 40
    assert session.dropped.keys() == {"frontier_size"}
    assert events.count(LinksLimited("frontier_size", "")) == 1


def test_a_policy_with_a_row_for_every_link_is_bounded_as_well():
    hub = [f"a/{n}" for n in range(10)]
    web = web_of(*(page(url, 0.9, *(to for to in hub if to != url)) for url in hub))
    settings = PolicySettings("breadth-first", "paper")
    session = start(web, ["a/0"], settings, limits=LinkLimits(frontier_size=12))
    most = 0
    while isinstance(demand := session.next(), Fetch):
        session.receive(demand.urls[0], web[demand.urls[0]])
        most = max(most, len(session.policy))
    assert session.steps == 10
    assert 10 < most <= 12


def test_citations_of_links_that_wait_count_though_the_site_is_full():
    web = web_of(page("a/0", 0.9, "a/1", "a/2"), page("a/1", 0.9, "a/2", "a/3"), page("a/2", 0.9))
    session = start(web, ["a/0"], BREADTH_FIRST, limits=LinkLimits(frontier_per_site=2))
    last = drive(session, web).steps[2]
    assert last.url == "a/2"
    assert last.features["citations"] == pytest.approx(1.0986, abs=1e-3)  # log1p of two


@pytest.mark.parametrize("cap", ["inf", "4"])
def test_limits_that_are_not_reached_change_nothing(cap):
    web = {url: endless(url, 4) for url in ("a/", "a/0", "a/1", "a/2", "a/3", "a/00", "a/01")}
    usual, wide = (
        drive(start(web, ["a/"], cap=cap, limits=limits), web)
        for limits in (LinkLimits(16, 16, 16), LinkLimits(10**6, 10**6, 10**6))
    )
    assert list(map(repr, usual.events)) == list(map(repr, wide.events))


def test_a_site_at_its_cap_makes_room_for_others():
    session = start({}, ["a/", "b/"], cap="3", limits=LinkLimits(frontier_size=30))
    crawl_on(session, 6)
    assert len(session.policy) == len(session._actions.waiting) == 0


def test_a_link_that_left_with_its_site_does_not_leave_twice():
    """A falling cap closes a site while a page of it is in flight, which may redirect anywhere."""
    waiting = WaitingLinks(LinkLimits())
    waiting.make_room(urls=3, sites=2)
    waiting.enter(np.array([0, 1, 2], np.int32), np.array([0, 0, 1], np.int32))
    waiting.close(0)
    waiting.leave(1, 0)
    assert len(waiting) == 1
    assert not waiting.wait_for([0])


def test_a_crawl_that_is_taken_up_drops_the_same_links():
    limits = LinkLimits(8, 25, 40)
    session, copy = (start({}, ["a/", "b/"], limits=limits) for _ in range(2))
    crawl_on(session, 12)
    state = capture(session)
    json.dumps([value for value in state.values() if not hasattr(value, "dtype")])
    restore(copy, state)
    assert list(map(repr, crawl_on(session, 12))) == list(map(repr, crawl_on(copy, 12)))
    assert session.dropped == copy.dropped
