"""The oracle: what a crawler could reach that knows the answers beforehand.

It prefers a URL whose page is relevant; if none waits, the URL from which an unfetched
relevant page is the fewest links away. The second half matters: an oracle that only knows
what it sees cannot tunnel through irrelevant pages, and a learner can beat it. It is still
greedy, not optimal (the optimal order is NP-hard), so it is a yardstick, not a proof.

It needs to have foreseen the whole web, so it exists for archives only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.names import Names
from tres.mdp.paths import NONE
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, Pick
from tres.web.percept import Percept


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """All pages of a web: which are relevant, and which pages cite them.

    The pages that cite page i are citing[starts[i]:starts[i + 1]].
    """

    index: dict[str, int]
    sites: dict[str, list[int]]
    relevant: Flags
    starts: NDArray[np.int64]
    citing: Ids

    @classmethod
    def of(cls, percepts: Iterable[Percept]) -> CitationGraph:
        """Read a whole web."""
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

    def judged(self, truth: Callable[[str], bool]) -> CitationGraph:
        """The same web in the eyes of another judge."""
        relevant = np.zeros_like(self.relevant)
        relevant[[i for url, i in self.index.items() if truth(url)]] = True
        return replace(self, relevant=relevant)

    def citing_pages(self, pages: Ids) -> Ids:
        """All pages that link to one of these."""
        counts = self.starts[pages + 1] - self.starts[pages]
        first = np.repeat(self.starts[pages] - (np.cumsum(counts) - counts), counts)
        return np.unique(self.citing[first + np.arange(len(first))])


class Oracle(FrontierPolicy):
    """Relevant URLs first, then the shortest way to the next relevant page."""

    def __init__(
        self, rows: Rows, urls: Names, site_names: Names, citation_graph: CitationGraph
    ) -> None:
        self._urls = urls
        self._site_names = site_names
        self._graph = citation_graph
        self._open = np.ones(len(citation_graph.relevant), np.bool_)
        self._row = np.full(len(citation_graph.relevant), NONE, np.int32)
        self._queue = QueueFrontier(rows, self._priority)
        super().__init__(rows, self._queue)

    def pick(self, waiting: Flags | None) -> Pick | None:
        """A relevant URL, or the first on the shortest way to one, or just any."""
        best = self._queue.best(waiting)
        if best is None:
            return None
        row, priority = best
        if priority <= 0:
            row = self._shortest_way(waiting, otherwise=row)
        return Pick(row, q=priority)

    def admit(self, step: Step, change: Change) -> None:
        """Remember which row leads to which page."""
        pages = self._pages(change.new)
        self._row[pages[pages != NONE]] = change.new[pages != NONE]

    def forget_url(self, url: int) -> None:
        """The page can be fetched no more."""
        page = self._graph.index.get(self._urls[url])
        if page is not None:
            self._open[page] = False
        super().forget_url(url)

    def forget_site(self, site: int) -> None:
        """No page of the site can be fetched any more."""
        self._open[self._graph.sites.get(self._site_names[site], [])] = False
        super().forget_site(site)

    def _shortest_way(self, waiting: Flags | None, otherwise: int) -> int:
        """Search backwards from all relevant pages that are left, until the frontier is met."""
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
