"""Han et al.: linear SARSA over the relevance along web paths."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.webs import To, drive, page, start, web_of

from tres.agent.sarsa import LinearSarsa
from tres.frontier.path_rows import HAN, one_hot
from tres.policies.setup import PolicySettings


def test_sarsa_moves_the_weights_of_an_action_towards_reward_and_next_value() -> None:
    sarsa = LinearSarsa(6, alpha=0.1, gamma=0.5)
    first, second = np.array([0, 3]), np.array([1, 4])
    sarsa.learn(first, 1.0, second)
    assert sarsa.values(first) == pytest.approx(0.2)  # two weights, each 0.1 * (1 - 0)
    sarsa.learn(second, 0.0, first)
    assert sarsa.values(second) == pytest.approx(2 * 0.1 * 0.5 * 0.2)


def test_every_number_falls_into_one_of_five_bins_of_its_own() -> None:
    places = one_hot(np.array([np.linspace(0, 1, 8)], np.float32))[0]
    assert (places // 5 == np.arange(8)).all()
    assert places[-1] == 39


def test_a_link_is_described_by_the_relevance_along_its_path() -> None:
    web = web_of(
        page("a/0", 0.8, To("a/1", anchor_relevance=0.3)),
        page("a/1", 0.2, To("a/2", anchor_relevance=0.7)),
        page("a/2", 0.6),
    )
    steps = drive(start(web, ["a/0"], PolicySettings("han-sync")), web).steps
    second, third = steps[1].features, steps[2].features
    assert set(second) == set(HAN.features)
    assert second["page_relevance"] == pytest.approx(0.8)
    assert second["ancestors_mean"] == 0.0
    assert second["path_mean"] == pytest.approx(0.8)
    assert third["page_relevance"] == pytest.approx(0.2)
    assert third["relevance_change"] == pytest.approx((0.2 - 0.8 + 1) / 2)
    assert third["ancestors_mean"] == pytest.approx(0.8)
    assert third["relevant_ancestors_mean"] == pytest.approx(0.8)
    assert third["relevant_distance"] == 0.0  # the parent of the page is relevant
    assert third["link_relevance"] == pytest.approx(0.7)
    assert third["path_mean"] == pytest.approx(0.5)
    assert third["relevant_path_mean"] == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["han-sync", "han-async"])
def test_it_learns_to_prefer_links_of_relevant_pages(name: str) -> None:
    good = [page(f"good/{i}", 0.9, f"good/{i + 1}", f"bad/{i}") for i in range(120)]
    bad = [page(f"bad/{i}", 0.1, f"worse/{i}", f"worse/x{i}") for i in range(120)]
    worse = [page(f"worse/{x}{i}", 0.0) for i in range(120) for x in ("", "x")]
    web = web_of(*good, *bad, *worse)
    rate = drive(start(web, ["good/0"], PolicySettings(name), pages=150), web).harvest_rate
    random = drive(start(web, ["good/0"], PolicySettings("random"), pages=150), web).harvest_rate
    assert rate > random + 0.1
