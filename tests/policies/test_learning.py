"""What the agent learns from, and when: every setting changes something that can be counted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.webs import To, drive, page, start, web_of

from tres.crawl.session import CrawlSession
from tres.policies.setup import PolicySettings
from tres.policies.tres import Tres
from tres.settings.sections import AgentSection

WEB = web_of(
    page("a/0", 0.9, "a/1", "b/1", "c/1"),
    page("a/1", 0.7, "a/2"),
    page("a/2", 0.8),
    page("b/1", 0.6, "b/2"),
    page("b/2", 0.2),
    page("c/1", 0.4),
)


def crawled(**settings: object) -> CrawlSession:
    agent = AgentSection(**{"warmup": 0, "epsilon": 0.0, **settings})  # type: ignore[arg-type]
    session = start(WEB, ["a/0"], PolicySettings(agent=agent))
    drive(session, WEB)
    return session


def rewards(**settings: object) -> tuple[list[float], list[float]]:
    """The rewards that the tree has learnt from, and those of the agent, in no order."""
    policy = crawled(**settings).policy
    assert isinstance(policy, Tres)
    pending = [each.reward for each in policy.learner._pending]
    of_agent = np.sort([*policy.learner.replay._rewards.view, *pending])
    return np.sort(policy.tree._rewards.view).tolist(), pytest.approx(of_agent.tolist())


def test_the_reward_is_the_verdict() -> None:
    verdicts = [0, 0, 1, 1, 1, 1]
    assert rewards(soft=False) == (verdicts, verdicts)


def test_the_agent_learns_from_the_probability_but_a_seed_is_worth_one() -> None:
    assert rewards(soft=True) == ([0, 0, 1, 1, 1, 1], [0.2, 0.4, 0.6, 0.7, 0.8, 1.0])


def test_a_share_of_the_reward_is_for_new_sites_only() -> None:
    # a/1 and a/2 are further pages of the seed's site, b/1 is the first relevant one of its own.
    shared = [0, 0, 0.25, 0.25, 1, 1]
    assert rewards(soft=False, new_sites=0.75) == (shared, shared)
    assert rewards(soft=False, new_sites=1.0)[0] == [0, 0, 0, 0, 1, 1]
    assert rewards(soft=True, new_sites=0.5)[1] == [0.2, 0.35, 0.4, 0.4, 0.6, 1.0]


def long_chain() -> dict:
    return web_of(*(page(f"s/{i}", i % 2, f"s/{i + 1}", f"s/{i + 2}") for i in range(60)))


@pytest.mark.parametrize("updates", [1, 3])
def test_the_network_is_updated_so_often_after_each_page(updates: int) -> None:
    web = long_chain()
    session = start(web, ["s/0"], PolicySettings(agent=AgentSection(updates=updates)), pages=50)
    drive(session, web)
    policy = session.policy
    assert isinstance(policy, Tres)
    # A transition is complete when the next choice is known, and eight of them are enough to begin.
    assert policy.learner.agent._updates == updates * (50 - 8)


def test_at_first_it_follows_the_relevance_of_page_and_anchor() -> None:
    tempting = [To(f"d{i}/0", anchor_relevance=i / 10) for i in range(8)]
    web = web_of(page("a/0", 0.9, *tempting), *(page(to.url, 0.1) for to in tempting))
    agent = AgentSection(warmup=0, guided=20, epsilon=0.0)
    run = drive(start(web, ["a/0"], PolicySettings(agent=agent)), web)
    assert run.asked[1:] == [to.url for to in reversed(tempting)]
