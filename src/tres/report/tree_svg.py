"""The decision tree as a picture that fits a phone, and its best leaves as rules.

The picture is an outline: one line per node, children indented below it, so that it grows downwards
and never sideways. A node shows its condition, how many pages were fetched from it, the share of
them that was relevant, and how many links wait. Its dot is larger the more was fetched, and fuller
the more of that was relevant. Of a large tree only the top is drawn, as many levels as `MOST` nodes
allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tres.frontier.decision_tree import ROOT
from tres.frontier.leaf_rules import INFINITY, Node, TreeView, condition
from tres.numbers import format_count
from tres.report.feature_labels import format_rule
from tres.report.safe_html import Markup, element

MOST, DEEPEST = 31, 6
WIDTH, LINE, INDENT = 380, 40, 18


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node of the picture: its line, and that of its parent."""

    node: Node
    line: int
    parent_line: int

    @property
    def x(self) -> int:
        """Where its dot is."""
        return 12 + INDENT * self.node.depth

    @property
    def y(self) -> int:
        """Where its dot is."""
        return 16 + LINE * self.line


def drawing(tree: TreeView) -> Markup:
    """Draw the top of the tree as SVG."""
    levels = levels_shown(tree)
    placed = list(_placed(tree, levels))
    label = (
        f"Decision tree with {format_count(len(tree.leaves), 'leaf', 'leaves')}, drawn down to "
        f"level {levels + 1}. The best leaves are listed as rules beside it."
    )
    drawn = [*map(_branch, placed[1:]), *(_node(tree, place, levels) for place in placed)]
    box = f"0 0 {WIDTH} {LINE * len(placed)}"
    return element("svg", *drawn, class_="tree", viewBox=box, role="img", aria_label=label)


def levels_shown(tree: TreeView) -> int:
    """Return the depth of the deepest level that the picture has room for."""
    levels = 0
    while levels < DEEPEST:
        shown = sum(node.depth <= levels + 1 for node in tree.nodes)
        if shown > MOST or shown == len(tree.nodes) == sum(n.depth <= levels for n in tree.nodes):
            break
        levels += 1
    return levels


def best_leaves(tree: TreeView, most: int = 12) -> list[Node]:
    """Return the leaves with the highest mean rewards.

    Two pages without reward are added to each, so that one lucky page does not make a best leaf.
    """

    def cautious(leaf: Node) -> float:
        return leaf.mean_reward * leaf.experiences / (leaf.experiences + 2)

    return sorted(tree.leaves, key=lambda leaf: (-cautious(leaf), leaf.id))[:most]


def _placed(tree: TreeView, levels: int) -> Iterator[PlacedNode]:
    """The nodes from top to bottom; the branch that meets a condition comes first."""
    waiting = [(ROOT, 0)]
    line = 0
    while waiting:
        number, parent_line = waiting.pop()
        node = tree.nodes[number]
        yield PlacedNode(node, line, parent_line)
        if node.left is not None and node.right is not None and node.depth < levels:
            waiting += [(node.left, line), (node.right, line)]
        line += 1


def _branch(place: PlacedNode) -> Markup:
    top = 16 + LINE * place.parent_line
    path = f"M{place.x - INDENT} {top}V{place.y}H{place.x}"
    return element("path", class_="branch", d=path)


def _node(tree: TreeView, place: PlacedNode, levels: int) -> Markup:
    node, share = place.node, place.node.experiences / max(1, tree.nodes[ROOT].experiences)
    left, circle = place.x + 14, {"cx": place.x, "cy": place.y, "r": round(4 + 5 * share**0.5, 1)}
    return element(
        "g",
        element("circle", class_="hole", **circle),
        element("circle", class_="dot s0", fill_opacity=round(node.mean_reward, 2), **circle),
        element("text", _condition(tree, node), x=left, y=place.y + 1),
        element("text", _facts(tree, node, levels), class_="facts", x=left, y=place.y + 15),
    )


def _condition(tree: TreeView, node: Node) -> str:
    """The condition that leads here from the parent."""
    if node.id == ROOT:
        return "all links"
    above = tree.nodes[node.parent]
    assert above.feature is not None
    assert above.threshold is not None
    bounds = (above.threshold, INFINITY) if above.right == node.id else (-INFINITY, above.threshold)
    return format_rule(condition(above.feature, *bounds))


def _facts(tree: TreeView, node: Node, levels: int) -> str:
    facts = f"{node.experiences:,} fetched, reward {node.mean_reward:.2f}"
    if node.feature is None:
        return f"{facts}, {node.rows:,} waiting"
    if node.depth == levels:
        return f"{facts}, {format_count(_leaves_below(tree, node), 'leaf', 'leaves')} below"
    return facts


def _leaves_below(tree: TreeView, node: Node) -> int:
    waiting, leaves = [node], 0
    while waiting:
        here = waiting.pop()
        if here.left is None or here.right is None:
            leaves += 1
        else:
            waiting += [tree.nodes[here.left], tree.nodes[here.right]]
    return leaves
