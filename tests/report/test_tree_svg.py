"""The picture of the tree: only its top where it is large, and its best leaves as a list."""

from __future__ import annotations

import re
from pathlib import Path

from tres.frontier.leaf_rules import Node, TreeView
from tres.report.run_reader import RunReader
from tres.report.tree_svg import DEEPEST, MOST, best_leaves, drawing, levels_shown
from tres.runs.resume_run import tree_of

TREE = TreeView(
    (
        Node(0, -1, 0, "anchor_keyword", 0.5, 1, 2, 9, 0.5, 0),
        Node(1, 0, 1, None, None, None, None, 4, 0.1, 3),
        Node(2, 0, 1, "site_relevance", 0.62, 3, 4, 5, 0.8, 0),
        Node(3, 2, 2, None, None, None, None, 2, 0.5, 3),
        Node(4, 2, 2, None, None, None, None, 3, 1.0, 7),
    )
)


def full(depth: int) -> TreeView:
    """A tree with all leaves at one depth."""
    nodes: list[Node] = []
    for i in range(2 ** (depth + 1) - 1):
        level = (i + 1).bit_length() - 1
        inner = level < depth
        split = ("site_relevance", 0.5, 2 * i + 1, 2 * i + 2) if inner else (None,) * 4
        nodes.append(
            Node(i, (i - 1) // 2 if i else -1, level, *split, 2 ** (depth - level), 0.5, 1)
        )
    return TreeView(tuple(nodes))


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_small_tree_is_drawn_whole_with_its_conditions() -> None:
    drawn = texts(drawing(TREE))
    assert drawn[::2] == [
        "all links",
        "anchor keyword",
        "site relevance ≥ 0.62",
        "site relevance &lt; 0.62",
        "not anchor keyword",
    ]
    assert drawn[5] == "3 fetched, reward 1.00, 7 waiting"
    assert levels_shown(TREE) == 2


def test_of_a_large_tree_the_top_is_drawn_and_the_rest_counted() -> None:
    tree = full(8)
    drawn = texts(drawing(tree))
    assert len(drawn) // 2 == 31 <= MOST
    below = [int(match[1]) for text in drawn if (match := re.search(r"(\d+) leaves below", text))]
    assert sum(below) == len(tree.leaves) == 256


def test_a_deep_and_narrow_tree_stays_narrow() -> None:
    nodes = []
    for i in range(0, 40, 2):
        nodes.append(Node(i, i - 2 if i else -1, i // 2, "citations", 1.0, i + 1, i + 2, 9, 0.5, 0))
        nodes.append(Node(i + 1, i, i // 2 + 1, None, None, None, None, 1, 0.5, 0))
    nodes.append(Node(40, 38, 20, None, None, None, None, 1, 0.5, 0))
    assert levels_shown(TreeView(tuple(nodes))) == DEEPEST


def test_a_single_leaf_can_be_drawn() -> None:
    assert texts(drawing(full(0))) == ["all links", "1 fetched, reward 0.50, 1 waiting"]


def test_one_lucky_page_does_not_make_the_best_leaf() -> None:
    leaves = (
        Node(0, -1, 0, "citations", 1.0, 1, 2, 41, 0.9, 0),
        Node(1, 0, 1, None, None, None, None, 1, 1.0, 0),
        Node(2, 0, 1, None, None, None, None, 40, 0.9, 0),
    )
    assert [leaf.id for leaf in best_leaves(TreeView(leaves))] == [2, 1]


def test_the_picture_says_in_words_what_it_is() -> None:
    assert 'role="img"' in drawing(TREE)
    assert 'aria-label="Decision tree with 3 leaves' in drawing(TREE)


def test_the_features_of_a_page_meet_the_rule_that_is_given_for_it(
    reader: RunReader, done: Path
) -> None:
    """The rule of a page's leaf is that of the tree of then."""
    tree = tree_of(done)
    chosen = [page for page in reader.pages if page.leaf is not None and not page.explored]
    assert len(chosen) > 50
    for page in chosen:
        named = dict(zip(reader.features, page.features, strict=True))
        for feature, low, high in tree._conditions(page.leaf):
            assert low <= named[feature] < high
