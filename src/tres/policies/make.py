"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from tres.config import TopicConfig
from tres.errors import ConfigError
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.rows import Rows
from tres.frontier.tree import Tree
from tres.frontier.url_rows import UrlRows
from tres.mdp.crawl import Crawl
from tres.mdp.schema import SCHEMAS
from tres.mdp.sites import Sites
from tres.policies.base import Policy
from tres.policies.best_first import BestFirst, BreadthFirst, by_anchor, by_parent
from tres.policies.oracle import Foresight, Oracle
from tres.policies.tree_random import Random, TreeRandom
from tres.policies.tres import Tres
from tres.sections import AgentSection, FeatureSet, PolicyName, TreeSection


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Everything a policy can be told."""

    name: PolicyName = "tres"
    features: FeatureSet = "evidence"
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)

    @classmethod
    def of(cls, config: TopicConfig) -> Self:
        """What a topic file says about its policy."""
        return cls(config.crawl.policy, config.crawl.features, config.tree, config.agent)


def make_rows(features: str, sites: Sites) -> Rows:
    """The rows of a feature set."""
    schema = SCHEMAS[features]
    return UrlRows(schema, sites) if schema.row_per == "url" else EdgeRows(schema, sites)


def make_policy(
    settings: PolicySettings,
    crawl: Crawl,
    rng: np.random.Generator,
    foresee: Callable[[], Foresight] | None = None,
) -> Policy:
    """A fresh policy over an empty frontier; only the oracle asks for foresight."""
    rows = make_rows(settings.features, crawl.sites)
    makers: dict[str, Callable[[], Policy]] = {
        "tres": lambda: Tres(
            rows,
            _tree(settings, rows),
            rng,
            settings.agent,
            settings.tree.representatives,
        ),
        "tree-random": lambda: TreeRandom(rows, _tree(settings, rows), rng),
        "random": lambda: Random(rows, _tree(settings, rows), rng),
        "breadth-first": lambda: BreadthFirst(rows),
        "parent": lambda: BestFirst(rows, by_parent),
        "anchor": lambda: BestFirst(rows, by_anchor),
        "oracle": lambda: Oracle(rows, crawl.urls, crawl.site_names, _foresight(foresee)),
    }
    return makers[settings.name]()


def _foresight(foresee: Callable[[], Foresight] | None) -> Foresight:
    if foresee is None:
        raise ConfigError(
            "crawl.policy: the oracle needs to know every page beforehand; "
            "give it an archive, or choose another policy"
        )
    return foresee()


def _tree(settings: PolicySettings, rows: Rows) -> Tree:
    return Tree(rows.schema.width, settings.tree.min_split, settings.tree.max_depth)
