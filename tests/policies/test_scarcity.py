"""Under a cap the places of a site are scarce where more links wait for them than there are.

A link then costs a share of its value: as much of it as the site has given away.
"""

from __future__ import annotations

import pytest
from tests.support.webs import To, page, start, web_of

from tres.crawl.session import CrawlSession
from tres.policies.setup import PolicySettings
from tres.policies.tres import Tres
from tres.settings.sections import AgentSection

GUIDED = AgentSection(guided=100, epsilon=0.0)
"""Values are guesses by the relevance of page and anchor, so a test can tell them."""
WEB = web_of(
    page("a/0", 0.9, To("a/1", 0.8), To("a/2", 0.8), To("a/3", 0.8), To("b/1", 0.7)),
    page("a/1", 0.9),
    page("a/2", 0.9),
    page("a/3", 0.9),
    page("b/1", 0.9),
)


def order(cap: object, agent: AgentSection = GUIDED) -> list[str]:
    session = start(WEB, ["a/0"], PolicySettings("tres", "evidence", agent=agent), cap=cap, pages=3)
    fetched = []
    for _ in range(3):
        (url,) = session.next().urls  # type: ignore[union-attr]
        session.receive(url, WEB[url])
        fetched.append(url)
    return fetched


def values(session: CrawlSession) -> dict[str, float]:
    policy = session.policy
    assert isinstance(policy, Tres)
    rows = policy.rows.waiting
    told = policy.learner.values(rows).tolist()
    names = [session.crawl.urls[policy.rows.url(int(row))] for row in rows]
    return dict(zip(names, told, strict=True))


def after_the_seed(cap: object, scarcity: float) -> dict[str, float]:
    agent = AgentSection(guided=100, epsilon=0.0, scarcity=scarcity)
    session = start(WEB, ["a/0"], PolicySettings("tres", "evidence", agent=agent), cap=cap)
    session.next()
    session.receive("a/0", WEB["a/0"])
    return values(session)


def test_without_a_cap_nothing_is_scarce() -> None:
    assert after_the_seed("inf", 0.3) == after_the_seed("inf", 0.0)
    assert order("inf")[1].startswith("a/")


def test_a_place_costs_what_share_of_them_is_gone() -> None:
    free, priced = after_the_seed(2, 0.0), after_the_seed(2, 0.3)
    # Site a has given one of two pages, and three links wait for the one that is left.
    assert priced["a/1"] == pytest.approx(free["a/1"] - 0.3 * 1 / 2)
    assert priced["b/1"] == free["b/1"]


def test_where_places_are_left_for_all_that_wait_they_cost_nothing() -> None:
    assert after_the_seed(4, 0.3) == after_the_seed(4, 0.0)


def test_the_other_site_comes_first_then() -> None:
    assert order(2)[1] == "b/1"
    assert order(2, AgentSection(guided=100, epsilon=0.0, scarcity=0.0))[1].startswith("a/")
    assert order(4)[1].startswith("a/")
