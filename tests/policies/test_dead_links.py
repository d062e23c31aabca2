"""Links that give no page: where they cost something, a learner learns to leave them alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.webs import PerceptWeb, To, drive, page, start, web_of

from tres.agent.replay_buffer import Replay
from tres.crawl.session import CrawlSession
from tres.policies.setup import PolicySettings
from tres.settings.sections import AgentSection
from tres.web.page import Failed, FailureKind

PAGES = 60


def tempting_web() -> PerceptWeb:
    """Every page is as good as any other, and links to others and to what is gone long since."""
    return web_of(
        *(
            page(
                f"a/{i}",
                0.9,
                *(To(f"a/{4 * i + k}", 0.5) for k in range(1, 5)),
                *(To(f"b/{4 * i + k}", 0.6) for k in range(1, 5)),
            )
            for i in range(PAGES * 4)
        )
    )


def crawled(price: float) -> CrawlSession:
    web = tempting_web()
    settings = PolicySettings("tres", "evidence", agent=AgentSection(dead_links=price))
    session = start(web, ["a/0"], settings, pages=PAGES)
    drive(session, web)
    assert session.steps == PAGES
    return session


def test_where_dead_links_have_a_price_fewer_are_asked_for() -> None:
    free, priced = (crawled(price).failures[FailureKind.NOT_FOUND] for price in (0.0, 0.25))
    assert free > 4 * PAGES
    assert priced < free / 2


def replay_of(session: CrawlSession) -> Replay:
    return session.policy.learner.replay  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("policy", ["tres", "tres-sync", "tres-async"])
def test_of_four_dead_links_one_is_learnt_from_at_a_quarter(policy: str) -> None:
    for price, learnt in ((0.0, 0), (0.25, 2), (1.0, 8)):
        web = web_of(page("a/0", 0.9, *(f"a/{i}" for i in range(1, 9))))
        settings = PolicySettings(policy, "evidence", agent=AgentSection(dead_links=price))
        session = start(web, ["a/0"], settings)
        drive(session, web)
        rewards = replay_of(session)._rewards.view
        assert session.failures[FailureKind.NOT_FOUND] == 8
        assert np.count_nonzero(rewards == 0.0) == learnt


def test_a_seed_that_gives_no_page_teaches_nothing() -> None:
    settings = PolicySettings("tres", "evidence", agent=AgentSection(dead_links=1.0))
    session = start({}, ["a/0"], settings)
    session.next()
    session.receive("a/0", Failed("a/0", FailureKind.NOT_FOUND))
    assert len(replay_of(session)) == 0
