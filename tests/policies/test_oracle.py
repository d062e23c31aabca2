"""The oracle: relevant pages first, then the shortest way to the next one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.webs import (
    PerceptWeb,
    drive,
    graph_of,
    links,
    page,
    random_web,
    start,
    web_of,
)

from tres.crawl.session import CrawlSession
from tres.errors import ConfigError
from tres.mdp.state import CrawlState
from tres.policies.registry import make_policy
from tres.policies.setup import OfflineKnowledge, PolicySettings
from tres.settings.sections import FEATURES, FeatureSet
from tres.web.page import FailureKind
from tres.web.percept import Percept

every_feature_set = pytest.mark.parametrize("features", FEATURES)


def asked(web: PerceptWeb, seeds: list[str], features: FeatureSet = "paper", **limits: int) -> list:
    return drive(start(web, seeds, PolicySettings("oracle", features), **limits), web).asked


@every_feature_set
def test_relevant_pages_come_first(features: FeatureSet) -> None:
    web = web_of(
        page("a/0", 0.1, "a/bad", "a/good", "a/worse", "a/better"),
        page("a/bad", 0.1),
        page("a/good", 0.9),
        page("a/worse", 0.1),
        page("a/better", 0.9),
    )
    assert asked(web, ["a/0"], features, pages=3) == ["a/0", "a/good", "a/better"]


@every_feature_set
def test_it_tunnels_through_irrelevant_pages_by_the_shortest_way(features: FeatureSet) -> None:
    web = web_of(
        page("a/0", 0.1, "a/nowhere", "a/far", "a/near"),
        page("a/nowhere", 0.1),
        page("a/far", 0.1, "a/far2"),
        page("a/far2", 0.1, "a/treasure"),
        page("a/near", 0.1, "a/gold"),
        page("a/gold", 0.9),
        page("a/treasure", 0.9),
    )
    way = ["a/0", "a/near", "a/gold", "a/far", "a/far2", "a/treasure", "a/nowhere"]
    assert asked(web, ["a/0"], features) == way


def test_it_can_be_told_what_another_judge_thinks() -> None:
    web = web_of(page("a/0", 0.9, "a/1", "a/2", "a/3"), *(page(f"a/{i}", 0.9) for i in range(1, 4)))
    web_graph = graph_of(web).judged({"a/3"}.__contains__)
    assert np.flatnonzero(web_graph.relevant).tolist() == [web_graph.index["a/3"]]
    crawl = CrawlState()
    policy = make_policy(
        PolicySettings("oracle"),
        crawl,
        np.random.default_rng(0),
        OfflineKnowledge(web_graph=lambda: web_graph),
    )
    session = CrawlSession(crawl, policy, links("a/0"), pages=2)
    assert drive(session, web).asked == ["a/0", "a/3"]


def test_it_does_not_look_for_what_it_already_has() -> None:
    # The seed is relevant, and `home` leads back to it: that is no way to a relevant page.
    web = web_of(
        page("a/0", 0.9, "a/home", "a/far"),
        page("a/home", 0.1, "a/0"),
        page("a/far", 0.1, "a/far2"),
        page("a/far2", 0.1, "a/gold"),
        page("a/gold", 0.9),
    )
    assert asked(web, ["a/0"], pages=4) == ["a/0", "a/far", "a/far2", "a/gold"]


def test_a_site_that_has_given_all_it_may_is_no_goal() -> None:
    web = web_of(
        page("a/0", 0.1, "b/1", "b/2"),
        page("b/1", 0.1, "a/gold"),
        page("b/2", 0.1, "c/1"),
        page("c/1", 0.1, "c/gold"),
        page("a/gold", 0.9),
        page("c/gold", 0.9),
    )
    session = start(web, ["a/0"], PolicySettings("oracle", "paper"), pages=4, cap=1)
    # a/gold can never be had (site a has given its one page), so b/1 leads nowhere; c/1 uses up
    # site c, so that c/gold cannot be had either, but this is not foreseen.
    assert drive(session, web).asked == ["a/0", "b/2", "c/1"]


def test_a_dead_link_is_no_goal_and_no_obstacle() -> None:
    web = web_of(page("a/0", 0.1, "a/dead", "a/1"), page("a/1", 0.1, "a/2"), page("a/2", 0.9))
    session = start(web, ["a/0"], PolicySettings("oracle", "paper"))
    assert drive(session, web).asked == ["a/0", "a/1", "a/2", "a/dead"]
    assert session.failures == {FailureKind.NOT_FOUND: 1}


@given(seed=st.integers(0, 5_000))
def test_as_long_as_a_relevant_page_waits_it_takes_one(seed: int) -> None:
    web = random_web(seed, pages=40, moved=0.0)
    first = next(iter(web))
    fetched: set[str] = set()
    for url in asked(web, [first]):
        linked = {to for done in fetched for to in _links(web, done)} - fetched
        if any(_relevant(web, to) for to in linked):
            assert _relevant(web, url)
        fetched.add(url)


def test_without_foresight_there_is_no_oracle() -> None:
    with pytest.raises(ConfigError, match="oracle needs to know every page"):
        make_policy(PolicySettings("oracle"), CrawlState(), None)  # type: ignore[arg-type]


def _links(web: PerceptWeb, url: str) -> tuple[str, ...]:
    found = web.get(url)
    return found.links.urls if isinstance(found, Percept) else ()


def _relevant(web: PerceptWeb, url: str) -> bool:
    found = web.get(url)
    return isinstance(found, Percept) and found.relevant
