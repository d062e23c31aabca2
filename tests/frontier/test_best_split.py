"""The best split of a leaf, worked out by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tres.frontier.best_split import best_split


def variance(rewards: np.ndarray) -> float:
    return float(np.var(rewards, dtype=np.float64))


def floats(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_a_split_worked_out_by_hand() -> None:
    # Five experiences, two features, rewards 0 0 1 1 1.
    #   V(P) = 3/5 * 2/5 = 0.24.
    # Feature 0 is 1 2 3 4 5: cutting between 2 and 3 leaves {0, 0} and {1, 1, 1},
    #   V(L) = V(R) = 0, so VR = 0.24, threshold 2.5.
    # Feature 1 is 0 1 0 1 1: the only cut leaves {0, 1} and {0, 1, 1},
    #   V(L) = 1/4, V(R) = 2/9, so VR = 0.24 - 2/5 * 1/4 - 3/5 * 2/9 = 0.00667.
    x = floats((1, 0), (2, 1), (3, 0), (4, 1), (5, 1))
    rewards = np.array([0, 0, 1, 1, 1], np.float32)
    assert np.isclose(variance(rewards), 0.24)
    split = best_split(x, rewards)
    assert split is not None
    assert (split.feature, split.threshold) == (0, 2.5)
    assert np.isclose(split.reduction, 0.24)
    only_second = best_split(x[:, 1:], rewards)
    assert only_second is not None
    assert (only_second.feature, only_second.threshold) == (0, 0.5)
    assert np.isclose(only_second.reduction, 0.24 - 2 / 5 * 1 / 4 - 3 / 5 * 2 / 9)


def test_both_childrens_variances_are_weighted_by_their_size() -> None:
    # Rewards 1 0 0 0 | 1 1 0 1 cut in the middle: V(P) = 1/4, V(L) = V(R) = 3/16,
    # so VR = 1/4 - 3/16 = 1/16.
    x = np.repeat(floats((0,), (1,)), 4, axis=0)
    split = best_split(x, np.array([1, 0, 0, 0, 1, 1, 0, 1], np.float32))
    assert split is not None
    assert np.isclose(split.reduction, 1 / 16)


def test_among_equal_reductions_the_first_feature_and_the_lowest_threshold_win() -> None:
    twice = floats((0, 0), (0, 0), (1, 1), (1, 1))
    split = best_split(twice, np.array([0, 0, 1, 1], np.float32))
    assert split is not None
    assert split.feature == 0
    symmetric = best_split(floats((0,), (1,), (2,)), np.array([1, 0, 1], np.float32))
    assert symmetric is not None
    assert symmetric.threshold == 0.5  # as good as 1.5


def test_nothing_is_split_that_cannot_be_told_apart_or_need_not_be() -> None:
    same_reward = best_split(floats((0,), (1,), (2,)), np.ones(3, np.float32))
    same_vector = best_split(floats((1,), (1,), (1,)), np.array([0, 1, 0], np.float32))
    no_effect = best_split(floats((0,), (0,), (1,), (1,)), np.array([0, 1, 0, 1], np.float32))
    assert same_reward is same_vector is no_effect is None


def test_neighbouring_numbers_can_be_told_apart() -> None:
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    split = best_split(floats((low,), (high,)), np.array([0, 1], np.float32))
    assert split is not None
    assert float(low) < split.threshold < float(high)


@given(
    arrays(np.float32, (9, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
    arrays(np.float32, 9, elements=st.sampled_from([0.0, 0.5, 1.0])),
)
def test_no_other_split_reduces_the_variance_more(x: np.ndarray, rewards: np.ndarray) -> None:
    def reduction(feature: int, threshold: float) -> float:
        left = x[:, feature] < threshold
        if left.all() or not left.any():
            return 0.0
        parts = (rewards[left], rewards[~left])
        return variance(rewards) - sum(len(p) / 9 * variance(p) for p in parts)

    best = max(reduction(f, c) for f in range(3) for c in (0.1, 0.3, 0.6, 0.9))
    split = best_split(x, rewards)
    if split is None:
        assert best < 1e-6
    else:
        assert np.isclose(split.reduction, best, atol=1e-6)
        assert np.isclose(reduction(split.feature, split.threshold), best, atol=1e-6)
