"""One row per URL, whose evidence grows (feature set `evidence`, our own).

The paper turns a link into yes and no and keeps one row per edge. Here every fetched page
that cites u adds to what is known of u: how many pages cite it and how many of them are
relevant, how relevant those pages and the anchors are on average and at best, and the best
of their paths. So a URL is judged by all that was seen, not by one lucky edge, and the
frontier holds as many rows as there are URLs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tres.frontier.rows import NO_ROWS, Change, Rows
from tres.mdp.columns import Column, Ids
from tres.mdp.paths import NONE
from tres.mdp.schema import Schema
from tres.mdp.sites import Sites
from tres.mdp.steps import Outlinks


class UrlRows(Rows):
    """Rows that gather evidence from every citing page."""

    def __init__(self, schema: Schema, sites: Sites) -> None:
        super().__init__(schema, sites)
        self._row_of = Column(np.int32, fill=NONE)
        self._citations = Column(np.int32)
        self._relevant = Column(np.int32)
        self._parent_sum = Column(np.float32)
        self._parent_max = Column(np.float32)
        self._anchor_sum = Column(np.float32)
        self._anchor_max = Column(np.float32)
        self._path_relevance = Column(np.float32)
        self._inverse_distance = Column(np.float32)
        self._url_keyword = Column(np.bool_)
        self._anchor_keyword = Column(np.bool_)
        self._same_site = Column(np.bool_)

    def take_in(self, links: Outlinks) -> Change:
        """New URLs get a row; known ones gain a citation."""
        self._row_of.resize(int(links.urls.max(initial=-1)) + 1)
        is_new = self._row_of.view[links.urls] == NONE
        new = self._append(links, np.flatnonzero(is_new).astype(np.int32))
        self._row_of.view[links.urls[is_new]] = new
        self._make_room()
        rows = self._row_of.view[links.urls]
        self._cite(rows, links)
        return Change(new, rows[~is_new])

    def of_url(self, url: int) -> Ids:
        """The URL's one row, while it waits."""
        row = int(self._row_of.view[url]) if url < len(self._row_of) else NONE
        if row == NONE or self._waiting.of(np.array([row]))[0] == NONE:
            return NO_ROWS
        return np.array([row], np.int32)

    def _cite(self, rows: Ids, links: Outlinks) -> None:
        self._citations.view[rows] += 1
        self._relevant.view[rows] += links.relevant
        self._parent_sum.view[rows] += links.relevance
        self._parent_max.view[rows] = np.maximum(self._parent_max.view[rows], links.relevance)
        self._anchor_sum.view[rows] += links.anchor_relevance
        self._anchor_max.view[rows] = np.maximum(
            self._anchor_max.view[rows], links.anchor_relevance
        )
        self._url_keyword.view[rows] |= links.url_keyword
        self._anchor_keyword.view[rows] |= links.anchor_keyword
        self._same_site.view[rows] |= links.same_site
        self._follow_best_path(rows, links)

    def _follow_best_path(self, rows: Ids, links: Outlinks) -> None:
        """The nearest relevant page wins, then the more relevant path; first come, first kept."""
        distance, share = self._inverse_distance.view[rows], self._path_relevance.view[rows]
        nearer = links.path.inverse_distance > distance
        as_near = links.path.inverse_distance == distance
        better = rows[nearer | (as_near & (links.path.path_relevance > share))]
        self._inverse_distance.view[better] = links.path.inverse_distance
        self._path_relevance.view[better] = links.path.path_relevance
        self._page.view[better] = links.page

    def _link_columns(self, rows: Ids) -> dict[str, ArrayLike]:
        citations = self._citations.view[rows]
        relevant = self._relevant.view[rows]
        return {
            "citations": np.log1p(citations),
            "relevant_citations": np.log1p(relevant),
            "relevant_share": relevant / citations,
            "parent_relevance_mean": self._parent_sum.view[rows] / citations,
            "parent_relevance_max": self._parent_max.view[rows],
            "anchor_relevance_mean": self._anchor_sum.view[rows] / citations,
            "anchor_relevance_max": self._anchor_max.view[rows],
            "url_keyword": self._url_keyword.view[rows],
            "anchor_keyword": self._anchor_keyword.view[rows],
            "path_relevance": self._path_relevance.view[rows],
            "inverse_distance": self._inverse_distance.view[rows],
            "same_site": self._same_site.view[rows],
        }

    def _action_columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        return {
            "anchor_relevance_mean": links.anchor_relevance,
            "anchor_relevance_max": links.anchor_relevance,
            "url_keyword": links.url_keyword,
            "anchor_keyword": links.anchor_keyword,
        }

    def _make_room(self) -> None:
        for column in (
            self._citations,
            self._relevant,
            self._parent_sum,
            self._parent_max,
            self._anchor_sum,
            self._anchor_max,
            self._path_relevance,
            self._inverse_distance,
            self._url_keyword,
            self._anchor_keyword,
            self._same_site,
        ):
            column.resize(self.total)
