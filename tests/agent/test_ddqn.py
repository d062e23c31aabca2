"""The learner: a target worked out by hand, gradients, the optimiser, the replay."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from tres.agent.adam import Adam
from tres.agent.ddqn import Batch, DoubleDqn, best_actions
from tres.agent.q_network import QNetwork
from tres.agent.replay_buffer import Replay
from tres.settings.sections import AgentSection


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


class Linear(QNetwork):
    """Q(x) = theta . x, so that values can be worked out by hand."""

    def __init__(self, width: int) -> None:
        super().__init__(width, (1,))
        self.size = width

    def values(self, theta: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        return vectors @ theta


@pytest.fixture
def agent() -> DoubleDqn:
    """gamma 0.5; the online network reads the first feature, the target the second."""
    agent = DoubleDqn(2, AgentSection(gamma=0.5), np.random.default_rng(0))
    agent._network = Linear(2)
    agent._online, agent._target = floats(1, 0), floats(0, 1)
    return agent


def batch(rewards: np.ndarray, next_vectors: list[tuple[float, float]], bounds: list[int]) -> Batch:
    return Batch(
        vectors=np.zeros((len(rewards), 2), np.float32),
        rewards=rewards,
        next_vectors=np.array(next_vectors, np.float32).reshape(-1, 2),
        bounds=np.array(bounds),
    )


def test_the_online_network_chooses_and_the_target_network_values(agent: DoubleDqn) -> None:
    # Next actions (online value, target value): (0.2, 0.9), (0.7, 0.4), (0.1, 0.8).
    # Online prefers the second; the target gives it 0.4: y = 1 + 0.5 * 0.4 = 1.2.
    # A plain DQN target would have been 1 + 0.5 * 0.9, a lone online network 1 + 0.5 * 0.7.
    targets = agent.targets(batch(floats(1), [(0.2, 0.9), (0.7, 0.4), (0.1, 0.8)], [0, 3]))
    assert targets == pytest.approx([1.2])


def test_each_transition_looks_at_its_own_next_actions_only(agent: DoubleDqn) -> None:
    # First: actions 0 and 1, the better one (by 0.3) is worth 0.6: y = 0 + 0.3.
    # Second: nothing can follow: y = 1. Third: action 2 only, worth -1: y = 1 - 0.5.
    next_actions = [(0.1, 9.0), (0.3, 0.6), (5.0, -1.0)]
    targets = agent.targets(batch(floats(0, 1, 1), next_actions, [0, 2, 2, 3]))
    assert targets == pytest.approx([0.3, 1.0, 0.5])


def test_among_equally_good_actions_the_first_is_taken() -> None:
    has_next, best = best_actions(floats(1, 3, 3, 2, 2), np.array([0, 3, 5]))
    assert has_next.tolist() == [0, 1]
    assert best.tolist() == [1, 3]


def test_the_target_network_follows_only_every_so_many_updates() -> None:
    agent = DoubleDqn(2, AgentSection(gamma=0.9, target_every=3), np.random.default_rng(0))
    vectors = floats(1, 0, 0, 1).reshape(2, 2)
    lesson = Batch(vectors, floats(1, 0), vectors, np.array([0, 1, 2]))
    frozen = agent._target.copy()
    agent.learn(lesson)
    agent.learn(lesson)
    assert np.array_equal(agent._target, frozen)
    assert not np.array_equal(agent._online, frozen)
    agent.learn(lesson)
    assert np.array_equal(agent._target, agent._online)
    (setting,) = (each for each in fields(AgentSection) if each.name == "target_every")
    assert setting.metadata["doc"].startswith("updates (not pages)")


def test_the_agent_learns_the_value_of_what_follows() -> None:
    # x0 earns nothing and leads to x1, which earns 1 and leads nowhere: Q(x0) -> gamma.
    vectors = floats(1, 0, 0, 1).reshape(2, 2)
    agent = DoubleDqn(
        2,
        AgentSection(gamma=0.5, learning_rate=0.01, target_every=20),
        np.random.default_rng(1),
    )
    lesson = Batch(vectors, floats(0, 1), vectors[1:], np.array([0, 1, 1]))
    for _ in range(1500):
        loss = agent.learn(lesson)
    assert agent.values(vectors) == pytest.approx([0.5, 1.0], abs=0.02)
    assert loss < 1e-3


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    rng = np.random.default_rng(3)
    network = QNetwork(4, (5, 3))
    theta = network.initial(rng).astype(np.float64)
    x, y = rng.normal(size=(7, 4)), rng.normal(size=7)
    _, gradient = network.gradient(theta, x, y)
    for i in range(network.size):
        step = np.zeros(network.size)
        step[i] = 1e-5
        up, down = (np.mean((network.values(theta + s, x) - y) ** 2) for s in (step, -step))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-5)


def test_the_first_step_of_adam_has_the_length_of_the_learning_rate() -> None:
    # m / sqrt(v) of a first gradient is its sign, whatever its size.
    theta = floats(1, 1, 1)
    Adam(3, learning_rate=0.1).step(theta, floats(0.5, -0.002, 0))
    assert theta == pytest.approx([0.9, 1.1, 1.0], abs=1e-4)


def test_a_long_gradient_is_clipped() -> None:
    # Clipping keeps the direction, so a second, ordinary gradient still counts beside it.
    wild, tame = (Adam(1, learning_rate=0.1, clip=clip) for clip in (1e9, 1.0))
    thetas = floats(0), floats(0)
    for optimiser, theta in zip((wild, tame), thetas, strict=True):
        optimiser.step(theta, floats(1000))
        for _ in range(10):
            optimiser.step(theta, floats(-1))
    assert thetas[1][0] > thetas[0][0] + 0.1


class TestReplay:
    def test_what_was_added_comes_back_with_its_own_actions(self) -> None:
        replay = Replay(10, 2)
        for i, actions in enumerate([[7, 8], [], [9]]):
            replay.add(floats(i, -i), i / 10, np.array(actions, np.int32))
        drawn = replay.sample(50, np.random.default_rng(0))
        expected = {0: [7, 8], 1: [], 2: [9]}
        seen = set()
        for i in range(50):
            which = int(drawn.vectors[i, 0])
            seen.add(which)
            assert drawn.actions[drawn.bounds[i] : drawn.bounds[i + 1]].tolist() == expected[which]
            assert drawn.rewards[i] == pytest.approx(which / 10)
            assert drawn.vectors[i, 1] == -which
        assert seen == {0, 1, 2}

    def test_when_it_is_full_the_oldest_goes(self) -> None:
        replay = Replay(3, 1)
        for i in range(5):
            replay.add(floats(i), 0.0, np.array([i], np.int32))
        assert len(replay) == 3
        drawn = replay.sample(100, np.random.default_rng(0))
        assert set(drawn.vectors[:, 0]) == {2, 3, 4}
        assert np.array_equal(drawn.actions, drawn.vectors[:, 0])

    def test_its_log_is_bounded_and_every_transition_keeps_its_own_actions(self) -> None:
        replay = Replay(7, 1)
        for i in range(1000):
            replay.add(floats(i), 0.0, np.full(i % 50, i, np.int32))
        assert replay.nbytes < 50_000  # 1000 transitions had 24,500 actions: 98,000 bytes
        drawn = replay.sample(50, np.random.default_rng(0))
        for i, which in enumerate(drawn.vectors[:, 0].astype(int).tolist()):
            actions = drawn.actions[drawn.bounds[i] : drawn.bounds[i + 1]]
            assert which >= 993
            assert actions.tolist() == [which] * (which % 50)

    def test_sampling_is_uniform(self) -> None:
        replay = Replay(4, 1)
        for i in range(4):
            replay.add(floats(i), 0.0, np.array([], np.int32))
        counts = np.bincount(
            replay.sample(4000, np.random.default_rng(0)).vectors[:, 0].astype(int)
        )
        assert counts.min() > 850
