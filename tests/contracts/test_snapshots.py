"""What a session owes to its journal, whatever its policy: it can be captured and restored.

Captured at any step, with any number of fetches in flight, and restored into a fresh session:
from there on both are one crawl, in choices, q-values, trees and random states. And a demand
that chooses nothing leaves no trace, because it is not written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from tests.support.webs import PerceptWeb, missing, random_web, site_of, start

from tres.crawl.events import Done, Event, Fetch, Wait
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import State, capture, restore
from tres.policies.setup import PolicySettings
from tres.settings.policy_names import POLICIES
from tres.settings.sections import (
    FEATURES,
    AgentSection,
    FeatureSet,
    TreeSection,
)

every_policy = pytest.mark.parametrize("name", POLICIES)
# A hit of a search may be on a site that nobody has heard of, so nobody can be told to wait for it.
every_link_follower = pytest.mark.parametrize("name", [n for n in POLICIES if n != "seedfinder"])
every_feature_set = pytest.mark.parametrize("features", FEATURES)

PAGES = 40


def fresh(web: PerceptWeb, name: str, features: FeatureSet, cap: object) -> CrawlSession:
    """A session under which all of a policy is at work within a few dozen pages."""
    agent = AgentSection(warmup=5, batch=8, target_every=5, epsilon=0.2, replay=20)
    tree = TreeSection(min_split=3, representatives=3)
    settings = PolicySettings(
        name, features, tree, agent, focus="soft", keywords=("music",), site_of=site_of
    )
    return start(web, list(web)[:2], settings, pages=PAGES, cap=cap)


class Moment(NamedTuple):
    """A crawl at one moment: what flies, and what it has told since the last."""

    flying: tuple[str, ...]
    events: list[Event]


def going(
    session: CrawlSession, web: PerceptWeb, k: int, flying: tuple[str, ...] = ()
) -> Iterator[Moment]:
    """Drive a session; the youngest fetch comes back first, so that old ones stay in flight."""
    while not isinstance(demand := session.next(k - len(flying)), Done):
        if isinstance(demand, Fetch):
            flying += demand.urls
        *rest, url = flying
        flying = tuple(rest)
        yield Moment(flying, session.receive(url, web.get(url, missing(url))))


def comparable(state: State) -> dict[str, object]:
    """A state that can be compared; a value that is not a number does not equal itself."""
    return {
        path: (held.dtype.str, held.shape, held.tobytes())
        if isinstance(held, np.ndarray)
        else json.dumps(held)
        for path, held in state.items()
    }


@every_policy
@every_feature_set
@pytest.mark.parametrize(("k", "cap"), [(1, "inf"), (3, "8..3")])
def test_a_restored_session_is_the_session_that_was_captured(
    name: str, features: FeatureSet, k: int, cap: object
) -> None:
    web = random_web(seed=k)
    session = fresh(web, name, features, cap)
    taken: dict[int, tuple[State, tuple[str, ...]]] = {0: (capture(session), ())}
    told = []
    for moment in going(session, web, k):
        told.append(repr(moment.events))
        if len(told) in (9, 23):
            taken[len(told)] = (capture(session), moment.flying)
    assert len(told) > 23
    assert k == 1 or max(len(flying) for _, flying in taken.values()) == k - 1
    for steps, (state, flying) in taken.items():
        later = fresh(web, name, features, cap)
        restore(later, state)
        assert comparable(capture(later)) == comparable(state)
        assert [repr(m.events) for m in going(later, web, k, flying)] == told[steps:]
        assert comparable(capture(later)) == comparable(capture(session))


@every_policy
def test_what_was_captured_does_not_change_with_the_session(name: str) -> None:
    web = random_web(seed=5)
    session = fresh(web, name, "evidence", "inf")
    crawl = going(session, web, 2)
    for _ in range(9):
        next(crawl)
    taken = capture(session)
    before = comparable(taken)
    twin = fresh(web, name, "evidence", "inf")
    restore(twin, taken)
    for _ in crawl:
        pass
    for _ in going(twin, web, 2):
        break
    assert comparable(taken) == before


@every_link_follower
@every_feature_set
def test_a_demand_that_chooses_nothing_leaves_no_trace(name: str, features: FeatureSet) -> None:
    """Here every demand is preceded by some that find every site waiting."""
    web = random_web(seed=6)
    everyone = {f"s{i}" for i in range(7)}
    plain, patient = (fresh(web, name, features, "inf") for _ in range(2))
    for moment in going(plain, web, 1):
        for _ in range(3):
            assert patient.next(1, everyone) == Wait()
        demand = patient.next(1)
        assert isinstance(demand, Fetch)
        (url,) = demand.urls
        assert repr(patient.receive(url, web.get(url, missing(url)))) == repr(moment.events)
    assert patient.next(1) == plain.next(1)


@every_policy
def test_only_some_sites_ready_is_a_choice_among_those(name: str) -> None:
    web = random_web(seed=8)
    session = fresh(web, name, "evidence", "inf")
    crawl = going(session, web, 1)
    for _ in range(12):
        next(crawl)
    ready = session._crawl.site_names[
        int(session.policy.rows.site(session.policy.rows.waiting[:1])[0])  # type: ignore[attr-defined]
    ]
    demand = session.next(1, {f"s{i}" for i in range(7)} - {ready})
    assert isinstance(demand, Fetch)
    assert demand.urls[0].startswith(f"{ready}/")
