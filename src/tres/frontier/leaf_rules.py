"""The tree in words: a readable rule for every leaf, as text, JSON or Graphviz.

A leaf's rule is what all its rows have in common. The thresholds met on the way down are
gathered per feature, so that a path of eighteen comparisons reads as the few conditions it
amounts to: `anchor_keyword and site_relevance >= 0.62`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from tres.frontier.decision_tree import ROOT, Tree
from tres.mdp.columns import Ids
from tres.mdp.feature_schema import COUNTS, YES_OR_NO
from tres.mdp.paths import NONE

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its place, its rule (none for a leaf), its experience and its waiting rows."""

    id: int
    parent: int
    depth: int
    feature: str | None
    threshold: float | None
    left: int | None
    right: int | None
    experiences: int
    mean_reward: float
    rows: int


@dataclass(frozen=True, slots=True)
class TreeView:
    """The tree as it was at one moment."""

    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, tree: Tree, features: tuple[str, ...], rows: Ids) -> TreeView:
        """Describe a tree; `rows` are the numbers of waiting rows per node."""
        return cls(tuple(_node(tree, i, features, rows) for i in range(tree.nodes)))

    @property
    def leaves(self) -> list[Node]:
        """The nodes without a rule."""
        return [node for node in self.nodes if node.feature is None]

    def rule(self, node: int) -> str:
        """Return the rule that all rows of a node satisfy."""
        bounds = self.bounds(node)
        return " and ".join(condition(name, *bounds[name]) for name in bounds) or "everything"

    def bounds(self, node: int) -> dict[str, tuple[float, float]]:
        """Return the rule as numbers: the lower and upper bound of each feature."""
        bounds: dict[str, tuple[float, float]] = {}
        for feature, low, high in self._conditions(node):
            known_low, known_high = bounds.get(feature, (-INFINITY, INFINITY))
            bounds[feature] = max(low, known_low), min(high, known_high)
        return bounds

    def to_text(self) -> str:
        """Return an indented outline."""
        return "\n".join(self._outline(ROOT, "", ""))

    def to_json(self) -> str:
        """Return all nodes as JSON; leaves with their rule."""
        nodes: list[dict[str, Any]] = [asdict(node) for node in self.nodes]
        for node in nodes:
            if node["feature"] is None:
                node["rule"] = self.rule(node["id"])
        return json.dumps({"nodes": nodes}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> TreeView:
        """Read what `to_json` wrote; damaged text is a ValueError, KeyError or TypeError."""
        nodes = json.loads(text)["nodes"]
        return cls(tuple(Node(**{k: v for k, v in n.items() if k != "rule"}) for n in nodes))

    def to_dot(self) -> str:
        """Return a Graphviz drawing; the more reward a leaf gave, the greener it is."""
        lines = ["digraph tree {", '  node [shape=box, style="rounded,filled", fillcolor=white];']
        for node in self.nodes:
            lines.append(f"  n{node.id} [{_dot_attributes(node)}];")
            if node.feature is not None:
                lines.append(f'  n{node.id} -> n{node.left} [label="no"];')
                lines.append(f'  n{node.id} -> n{node.right} [label="yes"];')
        return "\n".join([*lines, "}"])

    def _conditions(self, node: int) -> list[tuple[str, float, float]]:
        conditions: list[tuple[str, float, float]] = []
        while (parent := self.nodes[node].parent) != NONE:
            above = self.nodes[parent]
            assert above.feature is not None
            assert above.threshold is not None
            if above.right == node:
                conditions.append((above.feature, above.threshold, INFINITY))
            else:
                conditions.append((above.feature, -INFINITY, above.threshold))
            node = parent
        return conditions[::-1]

    def _outline(self, node: int, indent: str, question: str) -> Iterator[str]:
        here = self.nodes[node]
        facts = f"{here.experiences} fetched, reward {here.mean_reward:.2f}"
        if here.feature is None:
            yield f"{indent}{question}leaf {here.id}: {facts}, {here.rows} waiting"
            return
        assert here.left is not None
        assert here.right is not None
        assert here.threshold is not None
        test = condition(here.feature, here.threshold, INFINITY)
        otherwise = condition(here.feature, -INFINITY, here.threshold)
        yield f"{indent}{question}[{facts}]" if question else f"all: {facts}"
        inner = indent + "  "
        yield from self._outline(here.right, inner, f"{test}: ")
        yield from self._outline(here.left, inner, f"{otherwise}: ")


def _node(tree: Tree, node: int, features: tuple[str, ...], rows: Ids) -> Node:
    experiences, mean = tree.experience_of(node)
    feature = threshold = left = right = None
    if not tree.is_leaf(node):
        column, threshold = tree.rule(node)
        feature = features[column]
        left, right = tree.children(node)
    return Node(
        id=node,
        parent=tree.parent(node),
        depth=tree.depth(node),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        experiences=experiences,
        mean_reward=mean,
        rows=int(rows[node]) if node < len(rows) else 0,
    )


def condition(feature: str, low: float, high: float) -> str:
    """Return the condition that a feature lies between two bounds, the lower one included."""
    if feature in YES_OR_NO:
        return feature if low > -INFINITY else f"not {feature}"
    least, limit = _written(feature, low, high)
    if high == INFINITY:
        return f"{feature} >= {least}"
    if low == -INFINITY:
        return f"{feature} < {limit}"
    return f"{least} <= {feature} < {limit}"


def _written(feature: str, low: float, high: float) -> tuple[str, str]:
    """Return both bounds as text: counts as whole numbers, others as short as they differ."""
    if feature in COUNTS:
        count = COUNTS[feature]
        low, high = (math.ceil(count(x)) if math.isfinite(x) else x for x in (low, high))
        return f"{low}", f"{high}"
    digits = 3
    while f"{low:.{digits}g}" == f"{high:.{digits}g}" and digits < 9:
        digits += 1
    return f"{low:.{digits}g}", f"{high:.{digits}g}"


def _dot_attributes(node: Node) -> str:
    if node.feature is not None:
        return f'label="{condition(node.feature, node.threshold or 0.0, INFINITY)} ?"'
    label = f"leaf {node.id}\\n{node.experiences} fetched, reward {node.mean_reward:.2f}"
    return (
        f'label="{label}\\n{node.rows} waiting", '
        f'fillcolor="0.33 {0.1 + 0.6 * node.mean_reward:.2f} 0.95"'
    )
