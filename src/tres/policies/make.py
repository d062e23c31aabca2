"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tres.agent.ddqn import AgentSettings
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.rows import Rows
from tres.frontier.tree import Tree
from tres.frontier.url_rows import UrlRows
from tres.mdp.schema import SCHEMAS
from tres.mdp.sites import Sites
from tres.policies.base import Policy
from tres.policies.best_first import BestFirst, BreadthFirst, by_anchor, by_parent
from tres.policies.tree_random import Random, TreeRandom
from tres.policies.tres import Exploration, Tres


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Growth of the tree and how closely its leaves are looked at."""

    min_split: int = 5
    max_depth: int = 18
    representatives: int = 8


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Everything a policy can be told."""

    name: str = "tres"
    features: str = "evidence"
    tree: TreeSettings = field(default_factory=TreeSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    exploration: Exploration = field(default_factory=Exploration)


def make_rows(features: str, sites: Sites) -> Rows:
    """The rows of a feature set."""
    schema = SCHEMAS[features]
    return UrlRows(schema, sites) if schema.row_per == "url" else EdgeRows(schema, sites)


def make_policy(settings: PolicySettings, sites: Sites, rng: np.random.Generator) -> Policy:
    """A fresh policy over an empty frontier."""
    rows = make_rows(settings.features, sites)
    makers: dict[str, Callable[[], Policy]] = {
        "tres": lambda: Tres(
            rows,
            _tree(settings, rows),
            rng,
            settings.agent,
            settings.exploration,
            settings.tree.representatives,
        ),
        "tree-random": lambda: TreeRandom(rows, _tree(settings, rows), rng),
        "random": lambda: Random(rows, _tree(settings, rows), rng),
        "breadth-first": lambda: BreadthFirst(rows),
        "parent": lambda: BestFirst(rows, by_parent),
        "anchor": lambda: BestFirst(rows, by_anchor),
    }
    return makers[settings.name]()


def _tree(settings: PolicySettings, rows: Rows) -> Tree:
    return Tree(rows.schema.width, settings.tree.min_split, settings.tree.max_depth)
