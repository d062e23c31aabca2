"""Siblings: what became of the other links of the pages that cite a URL.

A list of sound packages need not be about sound, and no word of it may say so; but when the first
five links that were followed from it led to relevant pages, the sixth will. So every fetched page
v keeps count of the pages that it links to and that were fetched, before it or after it: how many,
and the sum of their relevance. A URL that waits is described by the counts of all pages that cite
it:

- the share: relevance of all its fetched siblings together, a half while nothing is known;
- the best hub: the relevance of one citing page's links, divided by their count and two more, so
  that a page needs some good links before it is believed to hold more of them;
- the neighbours: the same as the share, but only of siblings that stand next to it on a page, at
  most four links away. A page may speak of many things, but it speaks of one at a time.

Counts change with every fetch, and a page may hold thousands of links. So a page *tells* its counts
only when they have grown by a quarter since it told them last; then the rows of its links get new
values. What is told lags behind, but each page tells only logarithmically often. A row keeps the
sums of what it was told and the best hub among those who told it, not the list of them: should that
hub turn out worse than another one, the row hears of it when the other tells again. Neighbours
are few, so they hear of each other at once.

Edges are bounded (`MOST_EDGES`). Those that lead to rows which no longer wait tell nobody anything,
so they go first, without a difference to anything; then the oldest go, whose pages have told most
of what they will ever tell.
"""

from __future__ import annotations

import numpy as np

from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.paths import NONE
from tres.mdp.transitions import Outlinks

GROWTH = 1.25
"""How much the count of a page grows before it is told again."""
DOUBT = 2.0
"""Links that are held against a page when it is compared as a hub."""
NEAR = 4
"""Links between which two siblings are neighbours."""
AROUND = np.array([*range(-NEAR, 0), *range(1, NEAR + 1)])
MOST_EDGES = 4_000_000
"""Some 64 MB; when there are more, half of them go."""
NO_ROWS: Ids = np.empty(0, np.int32)


class Siblings:
    """Edges from fetched pages (by URL id) to rows, and what came of them."""

    def __init__(self) -> None:
        self._relevance = Column(np.float32, fill=np.nan)  # of fetched pages, by URL
        # By page: the fetched pages it links to, what it has told of them, its edges.
        self._count = Column(np.int32)
        self._sum = Column(np.float32)
        self._told = Column(np.float32, width=2)
        self._edges = Column(np.int64, width=2)
        # By edge: both ends, its place on the page, the edge before it that leads to the same row.
        self._page = Column(np.int32)
        self._row = Column(np.int32)
        self._place = Column(np.int32)
        self._before = Column(np.int32)
        # By row: its last edge, the sums of what it was told, its best hub, its neighbours.
        self._last = Column(np.int32, fill=NONE)
        self._heard = Column(np.float32, width=2)
        self._hub = Column(np.int32, fill=NONE)
        self._best = Column(np.float32)
        self._near = Column(np.float32, width=2)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(column.nbytes for column in vars(self).values())

    def cite(self, links: Outlinks, rows: Ids, total: int) -> None:
        """A fetched page links to these rows (of `total`), and to URLs chosen before."""
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
        self._tell(page)
        self._meet(rows, links.places, links.known_places[there], relevance)

    def fetched(self, url: int, row: int, relevance: float) -> Ids:
        """A page was fetched; the rows whose siblings have something new to tell.

        `row` led to it, and is `NONE` for a seed.
        """
        self._make_room(url + 1, row + 1)
        self._relevance.view[url] = relevance
        edges = self._leading_to(row)
        told = [self._tell_neighbours(edges, relevance)]
        for page in self._page.view[edges].tolist():
            self._count.view[page] += 1
            self._sum.view[page] += np.float32(relevance)
            if self._count.view[page] > GROWTH * self._told.view[page, 0]:
                told.append(self._tell(page))
        return np.unique(np.concatenate(told))

    def prune(self, waiting: Flags) -> None:
        """Keep half of the edges that may be held: the newest that lead to rows which wait."""
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
        """Edges held."""
        return len(self._row)

    def evidence(self, rows: Ids) -> Floats:
        """Share, best hub and neighbours of rows, in three columns."""
        share, near = _mean(self._heard.view[rows]), _mean(self._near.view[rows])
        return np.stack([share, self._best.view[rows], near], axis=1)

    def _leading_to(self, row: int) -> Ids:
        """The edges that lead to a row, the last one first."""
        edges = []
        edge = NONE if row == NONE else int(self._last.view[row])
        while edge != NONE:
            edges.append(edge)
            edge = int(self._before.view[edge])
        return np.array(edges, np.int32)

    def _meet(self, rows: Ids, places: Ids, others: Ids, relevance: Floats) -> None:
        """Rows appear on a page that links, at other places, to fetched pages of this relevance."""
        begin = np.searchsorted(others, places - NEAR)
        end = np.searchsorted(others, places + NEAR, side="right")
        sums = np.append(np.float64(0.0), relevance.cumsum(dtype=np.float64))
        self._near.view[rows] += np.stack([end - begin, sums[end] - sums[begin]], axis=1)

    def _tell_neighbours(self, edges: Ids, relevance: float) -> Ids:
        """The rows next to these edges hear what the edges have led to."""
        here = edges[:, None]
        around = here + AROUND
        inside = (around >= 0) & (around < len(self._row))
        around[~inside] = 0
        same_page = self._page.view[around] == self._page.view[here]
        distance = np.abs(self._place.view[around] - self._place.view[here])
        rows = self._row.view[around[inside & same_page & (distance <= NEAR)]]
        np.add.at(self._near.view, rows, np.array([1.0, relevance], np.float32))
        return np.asarray(rows)

    def _tell(self, page: int) -> Ids:
        """The rows of a page's links hear what became of its links so far."""
        first, last = self._edges.view[page].tolist()
        rows = self._row.view[first:last]
        now = np.array([self._count.view[page], self._sum.view[page]], np.float32)
        self._heard.view[rows] += now - self._told.view[page]
        self._told.view[page] = now
        value = now[1] / (now[0] + np.float32(DOUBT))
        moved = rows[(value > self._best.view[rows]) | (self._hub.view[rows] == page)]
        self._best.view[moved], self._hub.view[moved] = value, page
        return rows

    def _make_room(self, urls: int, rows: int) -> None:
        for column in (self._relevance, self._count, self._sum, self._told, self._edges):
            column.resize(urls)
        for column in (self._last, self._heard, self._hub, self._best, self._near):
            column.resize(rows)


def _mean(heard: Floats) -> Floats:
    """Mean relevance from counts and sums, and from one page more of which nothing is known."""
    count, total = heard.T
    return np.asarray((total + 0.5) / (count + 1.0))
