"""TRES, move by move: what it explores, what it takes, and what its replay remembers.

The paper's A~ is the union of the outlinks of the page just fetched and the action that the
tree offers next (section 2.4.2); seeds are experience with zero state features and reward 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.webs import To, drive, page, start, web_of

from tres.crawl.session import CrawlSession
from tres.policies.setup import PolicySettings
from tres.policies.tres import Tres
from tres.settings.sections import AgentSection, FeatureSet, TreeSection

GREEDY = AgentSection(warmup=0, guided=0, epsilon=0.0, soft=False)

WEB = web_of(
    page("a/0", 0.9, "a/1", "a/2"),
    page("a/1", 0.1, "a/3"),
    page("a/2", 0.1, "a/1"),
    page("a/3", 0.9, "b/1", "b/2", "b/3"),
    page("b/1", 0.1),
)


def tres(session: CrawlSession) -> Tres:
    assert isinstance(session.policy, Tres)
    return session.policy


def fetch(session: CrawlSession, web=WEB) -> str:
    """Let the session choose one page, and give it to it."""
    (url,) = session.next().urls  # type: ignore[union-attr]
    session.receive(url, web[url])
    return url


def remembered(session: CrawlSession) -> list[tuple[float, list[str]]]:
    """Replay, oldest first: the reward, and the URLs of A~."""
    policy, names = tres(session), session._crawl.urls
    replay = policy.learner.replay
    bounds = replay._range.view.tolist()
    return [
        (float(reward), [names[policy.rows.url(row)] for row in replay._log.view[start:stop]])
        for reward, (start, stop) in zip(replay._rewards.view, bounds, strict=True)
    ]


@pytest.mark.parametrize("features", ["paper", "evidence"])
def test_replay_holds_the_outlinks_and_the_next_choice(features: FeatureSet) -> None:
    session = start(WEB, ["a/0"], PolicySettings("tres", features, agent=GREEDY))
    fetch(session)
    assert remembered(session) == []  # what the tree offers next is not known yet
    second = fetch(session)
    assert remembered(session) == [(1.0, ["a/1", "a/2", second])]
    third = fetch(session)
    # a/1 opens a/3; a/2 opens only a/1, which has been fetched already: nothing.
    opened = {"a/1": ["a/3"], "a/2": ["a/1"] if second == "a/2" else []}[second]
    assert remembered(session)[1] == (0.0, [*opened, third])


def test_steps_that_come_back_together_share_the_next_choice() -> None:
    session = start(WEB, ["a/0"], PolicySettings("tres", "evidence", agent=GREEDY))
    fetch(session)
    session.next(2)
    session.receive("a/2", WEB["a/2"])
    session.receive("a/1", WEB["a/1"])
    (third,) = session.next(1).urls  # type: ignore[union-attr]
    assert third == "a/3"
    assert remembered(session)[1:] == [(0.0, ["a/3"]), (0.0, ["a/3", "a/3"])]


def test_a_failure_is_no_experience() -> None:
    web = web_of(page("a/0", 0.9, "a/dead", "a/1"), page("a/1", 0.1, "a/2"), page("a/2", 0.1))
    session = start(web, ["a/0"], PolicySettings("tres", "evidence", agent=GREEDY))
    drive(session, web)
    assert session.steps == 3
    tree = session.policy.tree
    assert tree is not None
    assert tree.experience_of(0)[0] == 3
    # The last page opens nothing, so its transition is complete only if a dead link came after.
    assert [reward for reward, _ in remembered(session)] in ([1.0, 0.0], [1.0, 0.0, 0.0])


def test_seeds_are_remembered_with_zero_state_features_and_reward_one() -> None:
    web = web_of(page("a/0", 0.1, "c/1"), page("b/0", 0.1, "c/1"), page("c/1", 0.1))
    seeds = [To("a/0", 0.3), To("b/0", 0.6, url_keyword=True)]
    session = start(web, seeds, PolicySettings("tres", "no-site", agent=GREEDY))
    for _ in range(3):
        fetch(session, web)
    replay = tres(session).learner.replay
    assert replay._rewards.view[:2].tolist() == [1.0, 1.0]
    expected = [[0, 0, 0, 0, 0, 0.3], [0, 0, 0, 1, 0, 0.6]]
    assert replay._vectors.view[:2] == pytest.approx(np.array(expected))


def test_the_warm_up_explores_and_afterwards_the_best_is_taken() -> None:
    targets = [f"a/{i}" for i in range(1, 30)]
    web = web_of(page("a/0", 0.9, *targets), *(page(url, 0.1) for url in targets))
    agent = AgentSection(warmup=10, epsilon=0.0)
    run = drive(start(web, ["a/0"], PolicySettings("tres", "paper", agent=agent)), web)
    explored = [step.explored for step in run.steps]
    assert explored == [False] + [True] * 9 + [False] * 20  # the seed was nobody's choice
    assert all((step.q is None) == (step.explored or step.parent is None) for step in run.steps)


def test_epsilon_is_the_share_of_random_steps_afterwards() -> None:
    targets = [f"a/{i}" for i in range(1, 500)]
    web = web_of(page("a/0", 0.9, *targets), *(page(url, 0.1) for url in targets))
    agent = AgentSection(warmup=0, epsilon=0.2, batch=400)
    run = drive(start(web, ["a/0"], PolicySettings("tres", "no-site", agent=agent)), web)
    assert 70 <= sum(step.explored for step in run.steps) <= 130  # of 499: about 100


@pytest.mark.parametrize("representatives", [1, 8])
def test_the_best_leaf_is_taken_by_the_networks_word(representatives: int) -> None:
    # Two leaves, told apart by the anchor. Whatever the network says about them is done.
    rng = np.random.default_rng(0)
    targets = [To(f"a/{i}", float(rng.choice([0.1, 0.9]))) for i in range(1, 60)]
    web = web_of(page("a/0", 0.9, *targets), *(page(to.url, to.anchor_relevance) for to in targets))
    agent = AgentSection(warmup=20, guided=0, epsilon=0.0)
    tree = TreeSection(representatives=representatives)
    session = start(web, [To("a/0", 0.9)], PolicySettings("tres", "no-site", tree, agent))
    for _ in range(20):
        fetch(session, web)
    policy = tres(session)
    assert policy.tree.leaves == 2
    for weight in (1.0, -1.0):
        policy.learner.agent.values = lambda x, w=weight: w * x[:, 5]  # type: ignore[method-assign]
        choice = policy.choose()
        assert choice is not None
        assert choice.features[5] == pytest.approx(0.9 if weight > 0 else 0.1)
        assert choice.q == pytest.approx(weight * choice.features[5])


def test_a_second_look_finds_better_rows_than_the_first() -> None:
    # One leaf with 200 rows of all values: one representative is an average row, of eight and
    # one the best is at 9/10.
    targets = [To(f"a/{i}", i / 200) for i in range(200)]
    web = web_of(page("b/0", 0.9, *targets))
    taken = {}
    for representatives in (1, 8):
        tree = TreeSection(representatives=representatives)
        session = start(web, ["b/0"], PolicySettings("tres", "no-site", tree, GREEDY))
        fetch(session, web)
        policy = tres(session)
        policy.learner.agent.values = lambda x: x[:, 5]  # type: ignore[method-assign]
        choices = [policy.choose() for _ in range(60)]
        taken[representatives] = np.mean([c.features[5] for c in choices if c is not None])
    assert 0.4 < taken[1] < 0.6
    assert taken[8] > 0.75


def test_training_moves_the_network_as_soon_as_there_is_enough() -> None:
    targets = [f"a/{i}" for i in range(1, 40)]
    web = web_of(page("a/0", 0.9, *targets), *(page(url, 0.9) for url in targets))
    session = start(web, ["a/0"], PolicySettings("tres", "no-site", agent=AgentSection(batch=16)))
    probe = np.full((1, 6), 0.5, np.float32)
    values = []
    for _ in range(40):
        fetch(session, web)
        values.append(float(tres(session).learner.agent.values(probe)[0]))
    # Steps 1 to 8 stage what the next choice completes; step 9 is the first to train.
    assert len(set(values[:8])) == 1
    assert len(set(values[7:])) == 33
