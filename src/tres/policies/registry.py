"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np

from tres.errors import ConfigError
from tres.frontier.decision_tree import Tree
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.path_rows import PathRows
from tres.frontier.rows import Rows
from tres.frontier.url_rows import UrlRows
from tres.mdp.schema import SCHEMAS
from tres.mdp.sites import Sites
from tres.mdp.state import CrawlState
from tres.policies.ache import Ache
from tres.policies.asynchronous import TresAsync
from tres.policies.best_first import BestFirst, BreadthFirst, by_anchor, by_parent
from tres.policies.han import HanAsync, HanSync
from tres.policies.oracle import CitationGraph, Oracle
from tres.policies.policy import Policy
from tres.policies.seedfinder import SeedFinder
from tres.policies.synchronous import TresSync
from tres.policies.tree_random import Random, TreeRandom
from tres.policies.tres import Tres
from tres.settings.sections import (
    AgentSection,
    FeatureSet,
    FocusKind,
    PolicyName,
    TreeSection,
)
from tres.settings.topic_file import TopicConfig
from tres.web.search_engine import SearchEngine
from tres.web.url import site_of


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Everything a policy can be told."""

    name: PolicyName = "tres"
    features: FeatureSet = "evidence"
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)
    focus: FocusKind = "hard"
    keywords: tuple[str, ...] = ()
    site_of: Callable[[str], str] = site_of
    indexed: float = 1.0

    @classmethod
    def of(cls, config: TopicConfig) -> Self:
        """What a topic file says about its policy."""
        crawl = config.crawl
        return cls(
            crawl.policy,
            crawl.feature_set,
            config.tree,
            config.agent,
            crawl.focus,
            config.topic.keywords,
            partial(site_of, by=crawl.site),
            crawl.indexed,
        )


@dataclass(frozen=True, slots=True)
class OfflineKnowledge:
    """What a crawl does not show and some policies ask for; each is made only when asked for."""

    foresee: Callable[[], CitationGraph] | None = None
    search: Callable[[float], SearchEngine] | None = None
    """The engine that knows this share of the web."""


NOTHING = OfflineKnowledge()


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A policy that a program brings along, instead of one that the configuration names."""

    name: str
    make: Callable[[CrawlState, np.random.Generator], Policy]


def make_rows(features: str, sites: Sites) -> Rows:
    """The rows of a feature set."""
    schema = SCHEMAS[features]
    return UrlRows(schema, sites) if schema.row_per == "url" else EdgeRows(schema, sites)


def make_policy(
    settings: PolicySettings,
    crawl: CrawlState,
    rng: np.random.Generator,
    known: OfflineKnowledge = NOTHING,
) -> Policy:
    """A fresh policy over an empty frontier; only the oracle foresees, only seedfinder searches."""
    rows = make_rows(settings.features, crawl.sites)
    makers: dict[PolicyName, Callable[[], Policy]] = {
        "tres": lambda: Tres(
            rows,
            _tree(settings, rows),
            rng,
            settings.agent,
            settings.tree.representatives,
        ),
        "tres-sync": lambda: TresSync(rows, rng, settings.agent),
        "tres-async": lambda: TresAsync(rows, rng, settings.agent),
        "ache": lambda: Ache(rows, crawl, rng, settings.focus),
        "seedfinder": lambda: SeedFinder(
            rows,
            crawl,
            rng,
            _engine(known, settings.indexed),
            settings.keywords,
            settings.site_of,
            settings.focus,
        ),
        "han-async": lambda: HanAsync(PathRows(crawl.sites, crawl.paths), rng),
        "han-sync": lambda: HanSync(PathRows(crawl.sites, crawl.paths), rng),
        "tree-random": lambda: TreeRandom(rows, _tree(settings, rows), rng),
        "random": lambda: Random(rows, _tree(settings, rows), rng),
        "breadth-first": lambda: BreadthFirst(rows),
        "parent": lambda: BestFirst(rows, by_parent),
        "anchor": lambda: BestFirst(rows, by_anchor),
        "oracle": lambda: Oracle(rows, crawl.urls, crawl.site_names, _foresight(known)),
    }
    return makers[settings.name]()


def _foresight(known: OfflineKnowledge) -> CitationGraph:
    if known.foresee is None:
        raise ConfigError(
            "crawl.policy: the oracle needs to know every page beforehand; "
            "give it an archive, or choose another policy"
        )
    return known.foresee()


def _engine(known: OfflineKnowledge, share: float) -> SearchEngine:
    if known.search is None:
        raise ConfigError(
            "crawl.policy: seedfinder needs a search engine, which is simulated over an archive; "
            "give it an archive, or choose another policy"
        )
    return known.search(share)


def _tree(settings: PolicySettings, rows: Rows) -> Tree:
    return Tree(rows.schema.width, settings.tree.min_split, settings.tree.max_depth)
