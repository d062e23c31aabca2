"""What a policy is built from: settings, the state of the crawl, randomness, knowledge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tres.frontier.decision_tree import Tree
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.rows import Rows
from tres.frontier.url_rows import UrlRows
from tres.mdp.schema import SCHEMAS
from tres.mdp.sites import Sites
from tres.mdp.state import CrawlState
from tres.policies.web_graph import WebGraph
from tres.settings.sections import AgentSection, FeatureSet, FocusKind, TreeSection
from tres.web.search_engine import SearchEngine
from tres.web.url import site_of


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The settings of a topic file that concern its policy."""

    name: str = "tres"
    features: FeatureSet = "evidence"
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)
    focus: FocusKind = "hard"
    keywords: tuple[str, ...] = ()
    site_of: Callable[[str], str] = site_of
    indexed: float = 1.0


@dataclass(frozen=True, slots=True)
class OfflineKnowledge:
    """What is known of an archive beyond the pages fetched; each part is made when asked for."""

    web_graph: Callable[[], WebGraph] | None = None
    search_engine: Callable[[float], SearchEngine] | None = None
    """Returns an engine that knows this share of the web."""


NOTHING = OfflineKnowledge()


def make_rows(features: str, sites: Sites) -> Rows:
    """Return empty rows of a feature set."""
    schema = SCHEMAS[features]
    return UrlRows(schema, sites) if schema.row_per == "url" else EdgeRows(schema, sites)


@dataclass(frozen=True, slots=True)
class PolicySetup:
    """Everything that a policy may be built from; its class method `build` takes its part."""

    settings: PolicySettings
    crawl: CrawlState
    rng: np.random.Generator
    known: OfflineKnowledge = NOTHING

    def rows(self) -> Rows:
        """Return empty rows of the feature set in the settings."""
        return make_rows(self.settings.features, self.crawl.sites)

    def tree(self, rows: Rows) -> Tree:
        """Return a tree that has not split yet."""
        return Tree(rows.schema.width, self.settings.tree.min_split, self.settings.tree.max_depth)

    def web_graph(self) -> WebGraph:
        """Return the whole web, for a policy that declares it needs it."""
        assert self.known.web_graph is not None  # checked before a policy is built
        return self.known.web_graph()

    def search_engine(self) -> SearchEngine:
        """Return the search engine, for a policy that declares it needs it."""
        assert self.known.search_engine is not None  # checked before a policy is built
        return self.known.search_engine(self.settings.indexed)
