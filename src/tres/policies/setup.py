"""What a policy is built from: settings, the state of the crawl, randomness, knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tres.frontier.decision_tree import Tree
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.rows import Rows
from tres.frontier.url_rows import UrlRows
from tres.mdp.columns import Flags, Ids
from tres.mdp.feature_schema import SCHEMAS
from tres.mdp.sites import Sites
from tres.mdp.state import CrawlState
from tres.settings.sections import AgentSection, FeatureSet, FocusKind, TreeSection
from tres.web.percept import Percept
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
class WebGraph:
    """All pages of a web, for policies that know them beforehand: their relevance and links.

    The pages that link to page i are citing[starts[i]:starts[i + 1]].
    """

    index: dict[str, int]
    sites: dict[str, list[int]]
    relevant: Flags
    starts: NDArray[np.int64]
    citing: Ids

    @classmethod
    def of(cls, percepts: Iterable[Percept]) -> WebGraph:
        """Build the graph of a whole web."""
        pages = list(percepts)
        index = {page.url: i for i, page in enumerate(pages)}
        sites: dict[str, list[int]] = {}
        for i, page in enumerate(pages):
            sites.setdefault(page.site, []).append(i)
        edges = [
            (index[u], i) for i, page in enumerate(pages) for u in page.links.urls if u in index
        ]
        pairs = np.array(edges, np.int32).reshape(-1, 2)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        counts = np.bincount(pairs[:, 0], minlength=len(pages))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        relevant = np.array([page.relevant for page in pages], np.bool_)
        return cls(index, sites, relevant, starts, pairs[:, 1].copy())

    def judged(self, truth: Callable[[str], bool]) -> WebGraph:
        """Return the same web with the relevance that another judge assigns."""
        relevant = np.zeros_like(self.relevant)
        relevant[[i for url, i in self.index.items() if truth(url)]] = True
        return replace(self, relevant=relevant)

    def citing_pages(self, pages: Ids) -> Ids:
        """Return all pages that link to one of these."""
        counts = self.starts[pages + 1] - self.starts[pages]
        first = np.repeat(self.starts[pages] - (np.cumsum(counts) - counts), counts)
        return np.unique(self.citing[first + np.arange(len(first))])


@dataclass(frozen=True, slots=True)
class OfflineKnowledge:
    """What is known about an archive besides the fetched pages; each part is built on demand."""

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
    """Everything that a policy may be built from; its `build` takes what it needs."""

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
