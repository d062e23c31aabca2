"""The tree: when a leaf splits, which one, and where a vector belongs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tres.frontier.decision_tree import ROOT, NewSplit, Tree
from tres.mdp.paths import NONE


def teach(tree: Tree, *lessons: tuple[float, float]) -> list[NewSplit | None]:
    """Experiences of one feature, as (x, reward)."""
    return [tree.learn(np.array([x], np.float32), reward) for x, reward in lessons]


def test_a_leaf_splits_with_the_experience_that_makes_it_worth_it() -> None:
    # 0.1 -> 0 and 0.9 -> 1 could be told apart at once, but a leaf needs five experiences.
    tree = Tree(width=1, min_split=5)
    grown = teach(tree, (0.1, 0), (0.9, 1), (0.2, 0), (0.8, 1), (0.3, 0))
    assert grown[:4] == [None] * 4
    assert grown[4] is not None
    # Rewards 0 0 0 1 1: V(P) = 2/5 * 3/5 = 0.24, both children are pure, so VR = 0.24. The
    # threshold lies half-way between 0.3 and 0.8.
    assert (grown[4].leaf, grown[4].split.feature) == (ROOT, 0)
    assert grown[4].split.threshold == pytest.approx(0.55)
    assert grown[4].split.reduction == pytest.approx(0.24)
    assert tree.children(ROOT) == (grown[4].left, grown[4].right) == (1, 2)
    assert (tree.nodes, tree.leaves) == (3, 2)


def test_a_pure_leaf_and_equal_vectors_do_not_split() -> None:
    tree = Tree(width=1, min_split=2)
    assert teach(tree, (0.1, 1), (0.9, 1), (0.5, 1)) == [None] * 3
    tree = Tree(width=1, min_split=2)
    assert teach(tree, (0.5, 0), (0.5, 1), (0.5, 0), (0.5, 1)) == [None] * 4


def test_only_the_leaf_of_the_new_experience_is_tried() -> None:
    tree = Tree(width=1, min_split=4)
    teach(tree, (0.0, 0), (0.1, 0), (0.9, 1), (1.0, 1))  # splits at 0.5
    assert tree.leaves == 2
    # The right leaf becomes worth a split with its fourth experience, not with one on the left.
    grown = teach(tree, (0.6, 0), (0.2, 0), (0.61, 0))
    assert [g and g.leaf for g in grown] == [None, None, 2]


def test_the_depth_is_limited() -> None:
    for limit in (1, 2, 5):
        tree = Tree(width=1, min_split=2, max_depth=limit)
        teach(tree, *((x, x % 2) for x in range(16)))  # worth fifteen splits
        assert max(tree.depth(node) for node in range(tree.nodes)) == limit


def test_a_node_counts_all_experience_below_it() -> None:
    tree = Tree(width=1, min_split=5)
    teach(tree, (0.1, 0), (0.9, 1), (0.2, 0), (0.8, 1), (0.3, 0), (0.7, 0))
    assert tree.experience_of(ROOT) == (6, pytest.approx(2 / 6))
    assert tree.experience_of(1) == (3, 0.0)
    assert tree.experience_of(2) == (3, pytest.approx(2 / 3))
    assert [tree.parent(node) for node in range(3)] == [NONE, ROOT, ROOT]


@given(
    x=arrays(np.float32, (30, 3), elements=st.floats(0, 1, width=32)),
    rewards=arrays(np.float32, 30, elements=st.sampled_from([0.0, 1.0])),
    asked=arrays(np.float32, (10, 3), elements=st.floats(0, 1, width=32)),
)
def test_sorting_many_vectors_is_walking_down_the_rules_with_each(
    x: np.ndarray, rewards: np.ndarray, asked: np.ndarray
) -> None:
    tree = Tree(width=3, min_split=2)
    splits = [tree.learn(vector, float(r)) for vector, r in zip(x, rewards, strict=True)]
    assert tree.leaves == 1 + sum(grown is not None for grown in splits)
    vectors = np.concatenate([x, asked])
    leaves = tree.sort(vectors).tolist()
    assert leaves == [walk(tree, vector) for vector in vectors]
    assert leaves == [tree.leaf_of(vector) for vector in vectors]


@given(
    x=arrays(np.float32, (25, 2), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
    rewards=arrays(np.float32, 25, elements=st.sampled_from([0.0, 1.0])),
)
def test_every_leaf_holds_exactly_the_experience_that_satisfies_its_rules(
    x: np.ndarray, rewards: np.ndarray
) -> None:
    tree = Tree(width=2, min_split=3)
    for vector, reward in zip(x, rewards, strict=True):
        tree.learn(vector, float(reward))
    at = np.array([walk(tree, vector) for vector in x])
    for leaf in filter(tree.is_leaf, range(tree.nodes)):
        count, mean = tree.experience_of(leaf)
        assert count == np.sum(at == leaf) > 0
        assert mean == pytest.approx(float(rewards[at == leaf].mean()))


def walk(tree: Tree, vector: np.ndarray) -> int:
    """Down the rules, in plain Python: left is x < c."""
    node = ROOT
    while not tree.is_leaf(node):
        feature, threshold = tree.rule(node)
        left, right = tree.children(node)
        node = left if float(vector[feature]) < threshold else right
    return node
