"""One row per edge (v, u): the paper's frontier (definition 2, feature set `paper`).

A URL found on several fetched pages is several actions, each with the path of its own
page. They compete; when one of them is taken, the others leave with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tres.frontier.buckets import Buckets
from tres.frontier.rows import NO_ROWS, Change, Rows
from tres.mdp.columns import Ids
from tres.mdp.feature_schema import Schema
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks


class EdgeRows(Rows):
    """Rows that never change once added."""

    def __init__(self, schema: Schema, sites: Sites) -> None:
        super().__init__(schema, sites)
        self._by_url = Buckets()

    def add_links(self, links: Outlinks) -> Change:
        """Add a row for every link."""
        rows = self._append(links, np.arange(len(links.urls), dtype=np.int32))
        self._by_url.make_room(self.total, int(links.urls.max(initial=-1)) + 1)
        self._by_url.insert(rows, links.urls)
        columns = self._columns(links)
        for i, name in enumerate(self.schema.link_features):
            self._links.view[rows, i] = columns[name]
        return Change(rows, NO_ROWS)

    def of_url(self, url: int) -> Ids:
        """Return all waiting edges that lead to a URL."""
        return self._by_url.rows(url) if url < len(self._by_url.counts) else NO_ROWS

    def retire(self, rows: Ids) -> None:
        """Take edges out: they wait no longer."""
        super().retire(rows)
        self._by_url.remove(rows)

    def _columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        return links.path._asdict() | self._action_columns(links)

    def _action_columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        return {
            "url_keyword": links.url_keyword,
            "anchor_keyword": links.anchor_keyword,
            "anchor_relevance": links.anchor_relevance,
        }
