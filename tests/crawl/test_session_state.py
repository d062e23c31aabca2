"""What a snapshot refuses: what it does not know, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.webs import drive, random_web, start

from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.mdp.columns import Column
from tres.mdp.paths import PathFeatures
from tres.policies.setup import PolicySettings


def crawled(pages: int = 20) -> CrawlSession:
    web = random_web(seed=3)
    session = start(web, list(web)[:3], pages=pages)
    drive(session, web)
    return session


@pytest.mark.parametrize(
    "new",
    [
        bytearray(b"x"),
        b"bytes",
        object(),
        PathFeatures(0.0, 0.0, 0.0),
        [Column(np.int32)],
    ],
    ids=lambda new: type(new).__name__,
)
def test_a_field_of_a_kind_it_does_not_know_is_refused(new: object) -> None:
    session = crawled()
    session.policy.new_field = new  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"policy\.new_field: a snapshot cannot hold"):
        capture(session)


def test_numbers_of_numpy_keep_their_type() -> None:
    session, again = crawled(), crawled(pages=5)
    session.policy.new_field = np.float32(0.1)  # type: ignore[attr-defined]
    again.policy.new_field = 0.0  # type: ignore[attr-defined]
    restore(again, capture(session))
    assert type(again.policy.new_field) is np.float32  # type: ignore[attr-defined]
    assert again.policy.new_field == np.float32(0.1)  # type: ignore[attr-defined]


def test_an_interrupt_is_not_part_of_the_state() -> None:
    interrupted, session = crawled(), start({}, ["a/1"])
    interrupted.interrupt()
    restore(session, capture(interrupted))
    assert not session.interrupted  # or every crawl from this snapshot would end at once
    session.interrupt()
    restore(session, capture(crawled()))
    assert session.interrupted  # a signal that comes while a session is restored is not lost


def test_a_field_that_the_state_lacks_is_refused() -> None:
    state, session = capture(crawled()), start({}, ["a/1"])
    session.policy.new_field = 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="new_field"):
        restore(session, state)


def test_a_field_that_the_session_lacks_is_refused() -> None:
    state = capture(crawled()) | {"session.gone": 1}
    with pytest.raises(ValueError, match=r"the state holds session\.gone"):
        restore(start({}, ["a/1"]), state)


@pytest.mark.parametrize("settings", [PolicySettings("random"), PolicySettings(features="paper")])
def test_the_state_of_another_kind_of_session_is_refused(settings: PolicySettings) -> None:
    with pytest.raises(ValueError, match=r"policy|column|fit"):
        restore(start({}, ["a/1"], settings), capture(crawled()))


def test_what_is_shared_stays_shared() -> None:
    session = start({}, ["a/1"])
    restore(session, capture(crawled(pages=5)))
    policy = session.policy
    assert policy.tree_frontier is policy._frontier  # type: ignore[attr-defined]
    assert policy.rows._sites is session._crawl.sites  # type: ignore[attr-defined]
    assert len(policy) > 0
