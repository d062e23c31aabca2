"""A site that nobody wants any more: what leaves, what fails, and that it stays so."""

from __future__ import annotations

import pytest
from tests.support.webs import drive, page, random_web, site_of, start, web_of

from tres.crawl.events import Done, Fetch, FetchFailed, SiteBlocked, SiteCapped, StopReason
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.policies.setup import PolicySettings
from tres.settings.policy_names import POLICIES
from tres.web.page import FailureKind

BREADTH_FIRST = PolicySettings("breadth-first", "paper")


def fetched(session: CrawlSession) -> str:
    demand = session.next()
    assert isinstance(demand, Fetch)
    return demand.urls[0]


def test_what_waits_of_a_site_leaves_and_nothing_of_it_enters_again() -> None:
    web = web_of(
        page("a/0", 0.9, "b/1", "b/2", "c/1"), page("c/1", 0.9, "b/3", "d/1"), page("d/1", 0.9)
    )
    session = start(web, ["a/0"], BREADTH_FIRST)
    session.receive(fetched(session), web["a/0"])
    assert len(session.policy) == 3
    assert session.block("b") == [SiteBlocked("b")]
    assert len(session.policy) == 1
    assert drive(session, web).asked == ["c/1", "d/1"]


def test_a_site_that_the_crawl_has_not_heard_of_can_be_blocked() -> None:
    web = web_of(page("a/0", 0.9, "b/1", "c/1"), page("b/1", 0.9), page("c/1", 0.9))
    session = start(web, ["a/0"], BREADTH_FIRST)
    assert not session.is_blocked("b")
    session.block("b")
    assert session.is_blocked("b")
    assert drive(session, web).asked == ["a/0", "c/1"]


def test_a_site_is_blocked_once() -> None:
    session = start({}, ["a/0"])
    session.block("b")
    assert session.block("b") == []


def test_a_seed_that_was_not_asked_for_yet_goes_too() -> None:
    web = web_of(page("a/0", 0.9), page("b/0", 0.9), page("b/1", 0.9))
    session = start(web, ["a/0", "b/0", "b/1"], BREADTH_FIRST)
    session.block("b")
    assert session.seeds_left == 1
    assert [step.url for step in drive(session, web).steps] == ["a/0"]


def test_what_is_in_flight_there_is_a_failure_when_it_comes_back() -> None:
    web = web_of(page("a/0", 0.9), page("b/0", 0.9))
    session = start(web, ["a/0", "b/0"], BREADTH_FIRST)
    assert session.next(2) == Fetch(("a/0", "b/0"))
    session.block("b")
    events = session.receive("b/0", web["b/0"])
    assert events == [FetchFailed("b/0", FailureKind.SITE_BLOCKED, is_seed=True)]
    assert session.failures == {FailureKind.SITE_BLOCKED: 1}
    assert (session.steps, session.in_flight) == (0, 1)


def test_a_redirect_that_ends_there_is_a_failure_and_one_that_leads_away_is_none() -> None:
    web = web_of(page("a/0", 0.9, "c/moved", "b/moved"), page("b/1", 0.9), page("d/1", 0.9))
    web |= {"c/moved": web["b/1"], "b/moved": web["d/1"]}
    session = start(web, ["a/0"], BREADTH_FIRST)
    session.receive(fetched(session), web["a/0"])
    assert session.next(2) == Fetch(("c/moved", "b/moved"))
    session.block("b")
    (failed,) = session.receive("c/moved", web["c/moved"])
    assert failed == FetchFailed("c/moved", FailureKind.SITE_BLOCKED, is_seed=False)
    session.receive("b/moved", web["b/moved"])
    assert session.steps == 2


def test_a_blocked_site_is_not_told_to_have_reached_its_cap() -> None:
    web = web_of(page("a/0", 0.9, "a/1"), page("a/1", 0.9))
    session = start(web, ["a/0"], BREADTH_FIRST, cap=1)
    url = fetched(session)
    session.block("b")
    assert SiteCapped("a") in session.receive(url, web[url])
    assert session.block("a") == [SiteBlocked("a")]  # full, and unwanted as well


def test_when_everything_is_blocked_the_crawl_is_at_its_end() -> None:
    web = web_of(page("a/0", 0.9, "b/1"), page("b/1", 0.9))
    session = start(web, ["a/0"], BREADTH_FIRST)
    session.receive(fetched(session), web["a/0"])
    session.block("b")
    assert session.next() == Done(StopReason.FRONTIER_EXHAUSTED)


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_goes_there_and_a_snapshot_knows_it(name: str) -> None:
    web = random_web(seed=4)
    settings = PolicySettings(name, keywords=("music",), site_of=site_of)

    def fresh() -> CrawlSession:
        return start(web, list(web)[:2], settings, pages=50)

    session = fresh()
    for _ in range(10):
        url = fetched(session)
        session.receive(url, web.get(url) or page(url, 0.1))
    session.block("s0")
    session.block("unheard-of")
    twin = fresh()
    restore(twin, capture(session))
    stories = [drive(each, web) for each in (session, twin)]
    assert repr(stories[0].events) == repr(stories[1].events)
    assert len(stories[0].steps) > 5
    assert "s0" not in {step.site for step in stories[0].steps}
    assert "s0" not in {site_of(asked) for asked in stories[0].asked}


def test_a_lower_budget_ends_the_crawl_when_all_is_back() -> None:
    web = random_web(seed=4)
    session = start(web, list(web)[:3], pages=50)
    demand = session.next(3)
    assert isinstance(demand, Fetch)
    session.pages = 1
    for url in demand.urls:
        session.receive(url, page(url, 0.9))
    assert session.steps == 3
    assert session.next() == Done(StopReason.BUDGET)
