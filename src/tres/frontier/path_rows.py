"""One row per edge, described by the relevance along its web path (Han et al. 2018).

Han, Wuillemin and Senellart describe a link by eight numbers between 0 and 1, none of them about
keywords or sites. Five are of the page v that holds the link: its relevance, how that differs
from the mean of its ancestors, the mean relevance of all its ancestors and of the relevant ones
among them, and how far back the last relevant one lies. Three are of the link itself: what is
predicted of its target, and the two means with v among the ancestors. Each number falls into one
of five bins of width 0.2, and a learner sees only the bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tres.frontier.edge_rows import EdgeRows
from tres.mdp.columns import Column, Floats
from tres.mdp.feature_schema import Schema
from tres.mdp.paths import NONE, WebPaths
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks

BINS = 5

HAN = Schema(
    "han",
    "edge",
    (
        "page_relevance",
        "relevance_change",
        "ancestors_mean",
        "relevant_ancestors_mean",
        "relevant_distance",
        "link_relevance",
        "path_mean",
        "relevant_path_mean",
    ),
)


def one_hot(vectors: Floats) -> NDArray[np.int64]:
    """Return, for every vector, the indices of its eight ones among the 40 bins.

    >>> one_hot(np.array([[0.0, 0.5, 1.0, 0.2, 0.0, 0.0, 0.0, 0.99]], np.float32)).tolist()
    [[0, 7, 14, 16, 20, 25, 30, 39]]
    """
    bins = np.minimum((vectors * BINS).astype(np.int64), BINS - 1)
    return np.asarray(bins + BINS * np.arange(vectors.shape[1]))


class PathRows(EdgeRows):
    """Edges with the statistics of their path."""

    def __init__(self, sites: Sites, paths: WebPaths) -> None:
        super().__init__(HAN, sites)
        self._paths = paths
        # Per page, over its path with itself: sums of relevance, and pages since a relevant one.
        self._sum = Column(np.float32)
        self._pages = Column(np.int32)
        self._relevant_sum = Column(np.float32)
        self._relevant_pages = Column(np.int32)
        self._since = Column(np.int32, fill=NONE)

    def _columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        parent = self._paths.parent(links.page)
        before, before_relevant, since = self._means(parent)
        self._extend(links, parent)
        after, after_relevant, _ = self._means(links.page)
        return {
            "page_relevance": links.relevance,
            "relevance_change": (links.relevance - before + 1.0) / 2.0,
            "ancestors_mean": before,
            "relevant_ancestors_mean": before_relevant,
            "relevant_distance": 1.0 if since == NONE else min(since, BINS - 1) / BINS,
            "path_mean": after,
            "relevant_path_mean": after_relevant,
        } | self._action_columns(links)

    def _action_columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        return {"link_relevance": links.anchor_relevance}

    def _means(self, page: int) -> tuple[float, float, int]:
        """Return the means of a page and its ancestors (all, relevant) and the distance."""
        if page == NONE:
            return 0.0, 0.0, NONE
        mean = self._sum.view[page] / self._pages.view[page]
        relevant = self._relevant_sum.view[page] / max(1, self._relevant_pages.view[page])
        return float(mean), float(relevant), int(self._since.view[page])

    def _extend(self, links: Outlinks, parent: int) -> None:
        """Extend the path of the parent by a page."""
        page = links.page
        columns = (self._sum, self._pages, self._relevant_sum, self._relevant_pages, self._since)
        for column in columns:
            column.resize(page + 1)
            if parent != NONE:
                column.view[page] = column.view[parent]
        self._sum.view[page] += links.relevance
        self._pages.view[page] += 1
        if links.relevant:
            self._relevant_sum.view[page] += links.relevance
            self._relevant_pages.view[page] += 1
            self._since.view[page] = 0
        elif self._since.view[page] != NONE:
            self._since.view[page] += 1
