"""Siblings: where the other links of the pages that link to a URL have led.

A list of sound packages need not be about sound, and no word of it may say so; but when the first
five links that were followed from it led to relevant pages, the sixth will. So every fetched page
v counts the fetched pages that it links to, fetched before or after it, and sums their relevance.
A waiting URL is described by the counts of all pages that link to it:

- the share: the mean relevance of all its fetched siblings, a half while none is fetched;
- the best hub: the relevance of one page's links, divided by their count plus two, so that a page
  needs some good links before it is expected to have more;
- the neighbours: the same as the share, but only of siblings at most four links away on a page.
  A page may have many subjects, but it treats one at a time.

Counts change with every fetch, and a page may have thousands of links. So a page *publishes* its
counts only when they have grown by a quarter since the last time; then the rows of its links get
new values. Published counts lag behind, but each page publishes only logarithmically often. A row
keeps the sums of the published counts and its best hub, not the list of pages: should that hub turn
out worse than another, the row learns of it when the other publishes again. Neighbours are few, so
they are updated at once.

The number of edges is bounded (`MOST_EDGES`). Edges to rows that no longer wait have no effect any
more, so they go first; then the oldest go, whose pages have published most of what they ever will.
"""

from __future__ import annotations

import numpy as np

from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.paths import NONE
from tres.mdp.transitions import Outlinks

GROWTH = 1.25
"""Factor by which the count of a page grows before it is published again."""
PRIOR_LINKS = 2.0
"""Irrelevant links that every page is assumed to have when hubs are compared."""
NEAR = 4
"""Places between two links up to which they are neighbours."""
AROUND = np.array([*range(-NEAR, 0), *range(1, NEAR + 1)])
MOST_EDGES = 4_000_000
"""About 64 MB; beyond this, half of them are dropped."""
NO_ROWS: Ids = np.empty(0, np.int32)


class Siblings:
    """Edges from fetched pages (by URL id) to rows, and the relevance they have led to."""

    def __init__(self) -> None:
        self._relevance = Column(np.float32, fill=np.nan)  # of fetched pages, by URL
        # By page: the fetched pages it links to, the counts it has published, its edges.
        self._count = Column(np.int32)
        self._sum = Column(np.float32)
        self._published = Column(np.float32, width=2)
        self._edges = Column(np.int64, width=2)
        # By edge: both ends, its place on the page, the edge before it that leads to the same row.
        self._page = Column(np.int32)
        self._row = Column(np.int32)
        self._place = Column(np.int32)
        self._before = Column(np.int32)
        # By row: its last edge, the sums of published counts, its best hub, its neighbours.
        self._last = Column(np.int32, fill=NONE)
        self._received = Column(np.float32, width=2)
        self._hub = Column(np.int32, fill=NONE)
        self._best = Column(np.float32)
        self._near = Column(np.float32, width=2)

    def cite(self, links: Outlinks, rows: Ids, total: int) -> None:
        """Add the edges of a fetched page to rows (of `total`) and to URLs chosen before."""
        page, known = links.page, links.known
        self._make_room(max(page, int(known.max(initial=NONE))) + 1, total)
        first, last = len(self._row), len(self._row) + len(rows)
        self._row.extend(rows)
        self._page.extend(np.full(len(rows), page, np.int32))
        self._place.extend(links.places)
        self._before.extend(self._last.view[rows])
        self._last.view[rows] = np.arange(first, last, dtype=np.int32)
        self._edges.view[page] = first, last
        relevance = self._relevance.view[known]
        there = ~np.isnan(relevance)
        relevance = relevance[there]
        self._count.view[page], self._sum.view[page] = len(relevance), relevance.sum()
        self._publish(page)
        self._add_neighbours(rows, links.places, links.known_places[there], relevance)

    def fetched(self, url: int, row: int, relevance: float) -> Ids:
        """Count a fetched page; return the rows whose values have changed.

        `row` led to it, and is `NONE` for a seed.
        """
        self._make_room(url + 1, row + 1)
        self._relevance.view[url] = relevance
        edges = self._leading_to(row)
        changed = [self._update_neighbours(edges, relevance)]
        for page in self._page.view[edges].tolist():
            self._count.view[page] += 1
            self._sum.view[page] += np.float32(relevance)
            if self._count.view[page] > GROWTH * self._published.view[page, 0]:
                changed.append(self._publish(page))
        return np.unique(np.concatenate(changed))

    def prune(self, waiting: Flags) -> None:
        """Keep the newest edges to waiting rows, at most half of `MOST_EDGES`."""
        kept = np.flatnonzero(waiting[self._row.view])[-(MOST_EDGES // 2) :]
        place = np.full(len(self._row) + 1, NONE, np.int32)  # one more: `NONE` stays `NONE`
        place[kept] = np.arange(len(kept), dtype=np.int32)
        self._edges.view[:] = np.searchsorted(kept, self._edges.view)
        self._last.view[:] = place[self._last.view]
        self._before.replace(place[self._before.view[kept]])
        for column in (self._page, self._row, self._place):
            column.replace(column.view[kept])

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self._row)

    def evidence(self, rows: Ids) -> Floats:
        """Return the share, best hub and neighbours of each row, as three columns."""
        share, near = _mean(self._received.view[rows]), _mean(self._near.view[rows])
        return np.stack([share, self._best.view[rows], near], axis=1)

    def _leading_to(self, row: int) -> Ids:
        """Return the edges that lead to a row, newest first."""
        edges = []
        edge = NONE if row == NONE else int(self._last.view[row])
        while edge != NONE:
            edges.append(edge)
            edge = int(self._before.view[edge])
        return np.array(edges, np.int32)

    def _add_neighbours(self, rows: Ids, places: Ids, others: Ids, relevance: Floats) -> None:
        """Count the fetched neighbours of new rows, which are at the places `others`."""
        begin = np.searchsorted(others, places - NEAR)
        end = np.searchsorted(others, places + NEAR, side="right")
        sums = np.append(np.float64(0.0), relevance.cumsum(dtype=np.float64))
        self._near.view[rows] += np.stack([end - begin, sums[end] - sums[begin]], axis=1)

    def _update_neighbours(self, edges: Ids, relevance: float) -> Ids:
        """Give the rows next to these edges the relevance that the edges have led to."""
        here = edges[:, None]
        around = here + AROUND
        inside = (around >= 0) & (around < len(self._row))
        around[~inside] = 0
        same_page = self._page.view[around] == self._page.view[here]
        distance = np.abs(self._place.view[around] - self._place.view[here])
        rows = self._row.view[around[inside & same_page & (distance <= NEAR)]]
        np.add.at(self._near.view, rows, np.array([1.0, relevance], np.float32))
        return np.asarray(rows)

    def _publish(self, page: int) -> Ids:
        """Give the rows of a page's links its counts of now; return the rows."""
        first, last = self._edges.view[page].tolist()
        rows = self._row.view[first:last]
        now = np.array([self._count.view[page], self._sum.view[page]], np.float32)
        self._received.view[rows] += now - self._published.view[page]
        self._published.view[page] = now
        value = now[1] / (now[0] + np.float32(PRIOR_LINKS))
        moved = rows[(value > self._best.view[rows]) | (self._hub.view[rows] == page)]
        self._best.view[moved], self._hub.view[moved] = value, page
        return rows

    def _make_room(self, urls: int, rows: int) -> None:
        for column in (self._relevance, self._count, self._sum, self._published, self._edges):
            column.resize(urls)
        for column in (self._last, self._received, self._hub, self._best, self._near):
            column.resize(rows)


def _mean(counts: Floats) -> Floats:
    """Return the mean relevance from counts and sums, with one unknown page as a prior."""
    count, total = counts.T
    return np.asarray((total + 0.5) / (count + 1.0))
