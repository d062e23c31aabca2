"""The one feature schema: names, order and dimension of x(s, a) (section 2.4.1).

Everything that builds, reads, prints or splits on a state-action vector takes its columns
from here, so that names and positions always agree.

`paper` holds the paper's eight features, one row per edge (v, u); `no-site` drops the
two web-domain features (the NH ablation of Table 4). `evidence` is our own: one row
per URL u, whose values are updated by every fetched page that links to it, by the relevance of
the other links on those pages, and by what links with the same words have led to;
`no-siblings` and `no-words` drop one of the latter two, `citations` both, `no-neighbours` only
the nearest links on the page. `tres.settings.sections` has the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tres.mdp.columns import Floats, Ids
from tres.mdp.sites import Sites

SiteFeatures = dict[str, Callable[[Sites, Ids], Floats]]

PATH = ("parent_reward", "inverse_distance", "path_relevance")
ACTION = ("url_keyword", "anchor_keyword", "anchor_relevance")
CITATION = (
    "citations",
    "relevant_citations",
    "relevant_share",
    "parent_relevance_mean",
    "parent_relevance_max",
    "anchor_relevance_mean",
    "anchor_relevance_max",
    "url_keyword",
    "anchor_keyword",
    "path_relevance",
    "inverse_distance",
    "same_site",
)
SIBLINGS = ("siblings_relevance", "best_hub", "neighbours_relevance")
WORDS = "words_relevance"

YES_OR_NO = frozenset({"parent_reward", "url_keyword", "anchor_keyword", "same_site"})
"""Features that are 0 or 1: rules name them without a number."""

GUESSES = frozenset(
    {"parent_reward", "anchor_relevance", "parent_relevance_mean", "anchor_relevance_mean"}
)
"""Features that say how relevant something near a link is."""

COUNTS: dict[str, Callable[[float], float]] = {
    "citations": math.expm1,
    "relevant_citations": math.expm1,
    "site_fetched": lambda value: math.expm1(3.0 * value),
}
"""Features that are logarithms of counts, with the function that gives the count."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A named feature set: what a row stands for and what its columns are.

    `link_features` belong to the link and are kept with its row; `site_features` belong to
    the target's site, change with every fetch, and are computed from the site counters.
    """

    name: str
    row_per: Literal["edge", "url"]
    link_features: tuple[str, ...]
    site_features: SiteFeatures = field(default_factory=dict)

    @property
    def features(self) -> tuple[str, ...]:
        """Names in the order of the vector."""
        return (*self.link_features, *self.site_features)

    @property
    def width(self) -> int:
        """Dimension of x(s, a)."""
        return len(self.link_features) + len(self.site_features)

    @property
    def guesses(self) -> tuple[str, ...]:
        """The features whose mean is a first estimate of a link's value."""
        return tuple(name for name in self.link_features if name in GUESSES)

    @property
    def reads_words(self) -> bool:
        """Whether a feature depends on the words of links."""
        return WORDS in self.link_features

    def without(self, name: str, *features: str) -> Schema:
        """Return a schema of another name without some link features."""
        left = tuple(feature for feature in self.link_features if feature not in features)
        return replace(self, name=name, link_features=left)

    def column(self, feature: str) -> int:
        """Return the position of a feature in the vector."""
        return self.features.index(feature)

    def matrix(self, rows: int, columns: dict[str, ArrayLike]) -> Floats:
        """Return vectors built from named columns; KeyError for a missing or unknown name."""
        if len(columns) != self.width:
            raise KeyError(f"{self.name} has {self.width} features, {len(columns)} were given")
        vectors = np.empty((rows, self.width), np.float32)
        for position, feature in enumerate(self.features):
            vectors[:, position] = columns[feature]
        return vectors

    def of_sites(self, counts: Sites, sites: Ids) -> dict[str, ArrayLike]:
        """Return the site features, from the current counts."""
        return {name: value(counts, sites) for name, value in self.site_features.items()}

    def named(self, vector: Floats) -> dict[str, float]:
        """Return a vector as a dictionary by feature name."""
        return dict(zip(self.features, vector.tolist(), strict=True))


PAPER = Schema(
    "paper",
    "edge",
    PATH + ACTION,
    {"site_relevance": Sites.ratio, "site_known": Sites.known},
)
NO_SITE = replace(PAPER, name="no-site", site_features={})
EVIDENCE = Schema(
    "evidence",
    "url",
    (*CITATION, *SIBLINGS, WORDS),
    {"site_relevance": Sites.smoothed, "site_fetched": Sites.volume},
)
NO_SIBLINGS = EVIDENCE.without("no-siblings", *SIBLINGS)
NO_NEIGHBOURS = EVIDENCE.without("no-neighbours", "neighbours_relevance")
NO_WORDS = EVIDENCE.without("no-words", WORDS)
CITATIONS = EVIDENCE.without("citations", *SIBLINGS, WORDS)
SCHEMAS = {
    schema.name: schema
    for schema in (PAPER, NO_SITE, EVIDENCE, NO_SIBLINGS, NO_NEIGHBOURS, NO_WORDS, CITATIONS)
}
