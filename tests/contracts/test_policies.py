"""What every policy owes to every crawl, whatever it prefers.

One battery for all policies, all feature sets, and with several fetches in flight that come
back in any order. The `Inspector` does the checking: no URL twice, no site above its cap,
nothing beyond the budget, nothing from a site that must wait, and a frontier that equals a
plain list with the same rules.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.inspector import Inspector
from tests.support.webs import PerceptWeb, Run, drive, random_web, start

from tres.crawl.events import Done, StopReason, Wait
from tres.policies.policy import FrontierPolicy
from tres.policies.setup import PolicySettings
from tres.settings import policy_names
from tres.settings.sections import FEATURES, AgentSection, FeatureSet, TreeSection

POLICIES: tuple[str, ...] = tuple(n for n in policy_names.POLICIES if n != "seedfinder")
"""Whoever follows links; a policy that searches is not bound to the frontier."""
RANDOM: tuple[str, ...] = (
    *("tres", "tres-sync", "tres-async", "han-async", "han-sync"),
    *("tree-random", "random"),
)

every_policy = pytest.mark.parametrize("name", POLICIES)
every_feature_set = pytest.mark.parametrize("features", FEATURES)


def eager(name: str, features: FeatureSet) -> PolicySettings:
    """Settings under which all of a policy is at work within a few dozen pages."""
    agent = AgentSection(warmup=5, batch=8, target_every=5, epsilon=0.2)
    tree = TreeSection(min_split=3, representatives=3)
    return PolicySettings(name, features, tree, agent, focus="soft")


def inspect(
    web: PerceptWeb, settings: PolicySettings, *, seeds: int, pages: int, cap: object, seed: int = 1
) -> Inspector:
    """A crawl of a web from its first pages, under inspection."""
    first = list(web)[:seeds]
    return Inspector(start(web, first, settings, pages=pages, cap=cap, seed=seed), web, first, cap)


@every_policy
@every_feature_set
@pytest.mark.parametrize("k", [1, 4, 16])
@pytest.mark.parametrize("cap", ["inf", 5, "5..2"])
def test_a_crawl_keeps_the_rules(name: str, features: FeatureSet, k: int, cap: object) -> None:
    web = random_web(seed=k)
    inspector = inspect(web, eager(name, features), seeds=2, pages=40, cap=cap)
    run = inspector.drive(k, disorder=k)
    assert run.reason in {StopReason.BUDGET, StopReason.FRONTIER_EXHAUSTED}
    assert len(run.steps) >= 15  # long enough to mean something


@every_policy
@pytest.mark.parametrize("k", [1, 4, 16])
def test_a_crawl_keeps_the_rules_while_busy_sites_must_wait(name: str, k: int) -> None:
    web = random_web(seed=20 + k)
    busy = {f"s{i}" for i in range(4)}
    inspector = inspect(web, eager(name, "evidence"), seeds=2, pages=40, cap=9)
    assert len(inspector.drive(k, disorder=k, busy=busy, patience=0.7).steps) >= 15


@every_policy
@pytest.mark.parametrize("k", [1, 4])
def test_a_crawl_keeps_the_rules_while_sites_are_blocked(name: str, k: int) -> None:
    web = random_web(seed=30 + k)
    inspector = inspect(web, eager(name, "evidence"), seeds=3, pages=60, cap=30)
    unwanted = ["s1", "s3", "unheard-of", "s1"]
    run = inspector.drive(k, disorder=k, block=unwanted)
    assert inspector.blocked == set(unwanted)
    assert len(run.steps) >= 15


@given(
    name=st.sampled_from(POLICIES),
    features=st.sampled_from(FEATURES),
    k=st.sampled_from([1, 2, 4, 16]),
    cap=st.sampled_from(["inf", 1, 2, 5, "5..2", "9..1"]),
    seeds=st.integers(1, 6),
    pages=st.integers(1, 60),
    web_seed=st.integers(0, 10_000),
    patience=st.sampled_from([0.0, 0.5]),
    block=st.lists(st.sampled_from([f"s{i}" for i in range(7)] + ["unheard-of"]), max_size=5),
)
def test_any_crawl_of_any_web_keeps_the_rules(
    name: str,
    features: FeatureSet,
    k: int,
    cap: object,
    seeds: int,
    pages: int,
    web_seed: int,
    patience: float,
    block: list[str],
) -> None:
    web = random_web(web_seed, pages=50, dead=0.2, moved=0.2)
    inspector = inspect(web, eager(name, features), seeds=seeds, pages=pages, cap=cap)
    inspector.drive(k, web_seed, {"s0", "s1", "s2"}, patience, block)


@every_policy
@every_feature_set
def test_one_seed_gives_one_crawl(name: str, features: FeatureSet) -> None:
    web = random_web(seed=3)
    assert _story(web, name, features, seed=5) == _story(web, name, features, seed=5)


@pytest.mark.parametrize("name", RANDOM)
@every_feature_set
def test_another_seed_gives_another_crawl(name: str, features: FeatureSet) -> None:
    web = random_web(seed=3)
    assert _story(web, name, features, seed=5) != _story(web, name, features, seed=6)


@pytest.mark.parametrize("name", sorted(set(POLICIES) - set(RANDOM)))
def test_who_does_not_throw_dice_needs_no_seed(name: str) -> None:
    web = random_web(seed=3)
    assert _story(web, name, "paper", seed=5) == _story(web, name, "paper", seed=6)


@every_policy
def test_an_interrupted_crawl_ends_after_what_is_in_flight(name: str) -> None:
    inspector = inspect(random_web(seed=4), eager(name, "evidence"), seeds=1, pages=40, cap="inf")
    inspector.ask(1)
    inspector.answer(inspector.flying[0])
    inspector.ask(4)
    inspector.session.interrupt()
    while inspector.flying:
        assert inspector.session.next(4) == Wait()
        inspector.answer(inspector.flying[-1])
    assert inspector.session.next(4) == Done(StopReason.INTERRUPTED)


@every_policy
def test_when_everything_must_wait_nothing_is_chosen_and_nothing_is_lost(name: str) -> None:
    inspector = inspect(random_web(seed=4), eager(name, "evidence"), seeds=1, pages=40, cap="inf")
    inspector.ask(1)
    inspector.answer(inspector.flying[0])
    policy = inspector.policy
    assert len(policy) > 0
    everyone = np.ones(len(inspector.session._crawl.sites), np.bool_)
    assert policy.choose(everyone) is None
    inspector.check_frontier()
    assert policy.choose(~everyone) is not None


@every_policy
def test_an_empty_frontier_offers_nothing(name: str) -> None:
    session = start({}, [], eager(name, "paper"))
    assert isinstance(session.policy, FrontierPolicy)
    assert len(session.policy) == 0
    assert session.policy.choose() is None


def _story(web: PerceptWeb, name: str, features: FeatureSet, seed: int) -> str:
    """All events, as text: a value that is not a number does not equal itself."""
    session = start(web, list(web)[:1], eager(name, features), pages=40, cap=9, seed=seed)
    run: Run = drive(session, web, k=3, disorder=1)
    assert len(run.steps) >= 15
    return repr(run.events)
