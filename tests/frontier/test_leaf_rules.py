"""The tree for people."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tres.frontier.decision_tree import Tree
from tres.frontier.leaf_rules import TreeView
from tres.mdp.feature_schema import EVIDENCE

NAMES = EVIDENCE.features


@pytest.fixture
def view() -> TreeView:
    """Relevant if cited by two relevant pages or more and the anchor has a keyword."""
    tree = Tree(EVIDENCE.width, min_split=4)
    for relevant in range(6):
        for keyword in (0.0, 1.0):
            vector = np.zeros(EVIDENCE.width, np.float32)
            vector[EVIDENCE.column("relevant_citations")] = np.log1p(relevant)
            vector[EVIDENCE.column("anchor_keyword")] = keyword
            tree.learn(vector, float(relevant >= 2 and keyword == 1.0))
    return TreeView.of(tree, NAMES, np.arange(tree.nodes, dtype=np.int32))


def test_a_rule_names_features_and_counts_as_people_would(view: TreeView) -> None:
    best = max(view.leaves, key=lambda leaf: leaf.mean_reward)
    assert set(view.rule(best.id).split(" and ")) == {"anchor_keyword", "relevant_citations >= 2"}
    assert view.rule(0) == "everything"


def test_thresholds_of_one_feature_become_one_range() -> None:
    tree = Tree(EVIDENCE.width, min_split=3)
    column = EVIDENCE.column("anchor_relevance_max")
    for i, reward in enumerate([0, 0, 0, 1, 1, 1, 0, 0, 0]):
        vector = np.zeros(EVIDENCE.width, np.float32)
        vector[column] = i / 10
        tree.learn(vector, float(reward))
    view = TreeView.of(tree, NAMES, np.zeros(tree.nodes, np.int32))
    best = max(view.leaves, key=lambda leaf: leaf.mean_reward)
    assert view.rule(best.id) == "0.25 <= anchor_relevance_max < 0.55"


def test_the_rules_of_the_leaves_tell_all_experience_apart(view: TreeView) -> None:
    assert len({view.rule(leaf.id) for leaf in view.leaves}) == len(view.leaves)
    assert sum(leaf.experiences for leaf in view.leaves) == view.nodes[0].experiences == 12


def test_json_and_back_is_the_same_tree(view: TreeView) -> None:
    assert TreeView.from_json(view.to_json()) == view
    leaves = [node for node in json.loads(view.to_json())["nodes"] if node["feature"] is None]
    assert all(leaf["rule"] == view.rule(leaf["id"]) for leaf in leaves)


def test_the_outline_has_a_line_for_every_node(view: TreeView) -> None:
    lines = view.to_text().splitlines()
    assert len(lines) == len(view.nodes)
    assert lines[0].startswith("all: 12 fetched")
    assert any("not anchor_keyword: " in line for line in lines)


def test_graphviz_has_every_node_and_two_edges_for_each_rule(view: TreeView) -> None:
    dot = view.to_dot()
    assert dot.count(" -> ") == len(view.nodes) - 1
    assert dot.count("[label=") == len(view.nodes) + dot.count(" -> ")
