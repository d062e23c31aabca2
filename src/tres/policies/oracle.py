"""The oracle: what a crawler could reach if it knew the answers beforehand.

It prefers a URL whose page is relevant; if none waits, the URL from which an unfetched
relevant page is the fewest links away. The second half matters: an oracle that only knows
the pages that wait cannot tunnel through irrelevant ones, and a learner can beat it. It is
still greedy, not optimal (the optimal order is NP-hard), so it is a yardstick, not a bound.

It needs the graph of the whole web, so it works on archives only.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.names import Names
from tres.mdp.paths import NONE
from tres.mdp.transitions import Step
from tres.policies.best_first import QueuePolicy
from tres.policies.policy import PolicyInfo, Selection
from tres.policies.setup import PolicySetup, WebGraph


class Oracle(QueuePolicy):
    """Selects relevant URLs first, then the shortest path to the next relevant page."""

    info = PolicyInfo(
        summary="knows which pages are relevant: a ceiling, not a crawler; works with `--web` only",
        reads_features=False,
        needs=("web graph",),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        crawl = setup.crawl
        return cls(setup.rows(), crawl.urls, crawl.site_names, setup.web_graph())

    def __init__(self, rows: Rows, urls: Names, site_names: Names, graph: WebGraph) -> None:
        self._urls = urls
        self._site_names = site_names
        self._graph = graph
        self._open = np.ones(len(graph.relevant), np.bool_)
        self._row = np.full(len(graph.relevant), NONE, np.int32)
        super().__init__(rows)

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select a relevant URL, else the first URL on the shortest path to one, else any."""
        best = super().select(waiting)
        if best is None or best.q > 0:
            return best
        return best._replace(row=self._shortest_way(waiting, otherwise=best.row))

    def learn_outlinks(self, step: Step, change: Change) -> None:
        """Remember which row leads to which page."""
        pages = self._pages(change.new)
        self._row[pages[pages != NONE]] = change.new[pages != NONE]

    def forget_url(self, url: int) -> None:
        """Drop a page that cannot be fetched any more."""
        page = self._graph.index.get(self._urls[url])
        if page is not None:
            self._open[page] = False
        super().forget_url(url)

    def forget_site(self, site: int) -> None:
        """Drop all pages of a site that cannot be fetched any more."""
        self._open[self._graph.sites.get(self._site_names[site], [])] = False
        super().forget_site(site)

    def _shortest_way(self, waiting: Flags | None, otherwise: int) -> int:
        """Search backwards from all unfetched relevant pages until a waiting row is met."""
        level = np.flatnonzero(self._open & self._graph.relevant).astype(np.int32)
        unseen = self._open.copy()
        while len(level):
            unseen[level] = False
            rows = self._row[level]
            rows = rows[rows != NONE]
            if waiting is not None:
                rows = rows[~waiting[self.rows.site(rows)]]
            if len(rows):
                return int(rows.min())
            level = self._graph.citing_pages(level)
            level = level[unseen[level]]
        return otherwise

    def _priority(self, rows: Ids) -> Floats:
        pages = self._pages(rows)
        known = pages != NONE
        relevant = known & self._graph.relevant[np.where(known, pages, 0)]
        return np.asarray(relevant, np.float32)

    def _pages(self, rows: Ids) -> Ids:
        index = self._graph.index
        urls = self.rows.url_ids(rows).tolist()
        return np.array([index.get(self._urls[url], NONE) for url in urls], np.int32)
