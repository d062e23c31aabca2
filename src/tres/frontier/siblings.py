"""Siblings: what became of the other links of the pages that cite a URL.

A list of sound packages need not be about sound, and no word of it may say so; but when the first
five links that were followed from it led to relevant pages, the sixth will. So every fetched page
v keeps count of the pages that it links to and that were fetched, before it or after it: how many,
and the sum of their relevance. A URL that waits is described by the counts of all pages that cite
it:

- the share: relevance of all its fetched siblings together, a half while nothing is known;
- the best hub: the highest count / (count + 2) share of one citing page, so that a page needs
  some good links before it is believed to hold more of them.

Counts change with every fetch, and a page may hold thousands of links. So a page *tells* its counts
only when they have grown by a quarter since it told them last; then the rows of its links get new
values. What is told lags behind, but each page tells only logarithmically often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tres.frontier.buckets import Buckets
from tres.mdp.columns import Column, Floats, Ids

GROWTH = 1.25
"""How much the count of a page grows before it is told again."""
DOUBT = 2.0
"""Links that are held against a page when it is compared as a hub."""


class Siblings:
    """Edges from fetched pages (by URL id) to rows, and what came of them."""

    def __init__(self) -> None:
        self._relevance = Column(np.float32, fill=np.nan)  # of fetched pages, by URL
        self._count = Column(np.int32)
        self._sum = Column(np.float32)
        self._told_count = Column(np.int32)
        self._told_sum = Column(np.float32)
        self._first = Column(np.int64)  # the edges of page v are first[v]:last[v]
        self._last = Column(np.int64)
        self._page = Column(np.int32)
        self._row = Column(np.int32)
        self._citing = Buckets()  # edges by row

    @property
    def nbytes(self) -> int:
        """Memory held."""
        stores = vars(self).values()
        return sum(store.nbytes for store in stores if isinstance(store, Column | Buckets))

    def cite(self, page: int, rows: Ids, known: Ids, total: int) -> None:
        """A fetched page links to these rows, and to these URLs that were chosen already."""
        self._make_room(max(page, int(known.max(initial=-1))) + 1)
        first = len(self._row)
        self._row.extend(rows)
        self._page.extend(np.full(len(rows), page, np.int32))
        self._first.view[page], self._last.view[page] = first, len(self._row)
        self._citing.make_room(len(self._row), total)
        self._citing.insert(np.arange(first, len(self._row), dtype=np.int32), rows)
        relevance = self._relevance.view[known]
        relevance = relevance[~np.isnan(relevance)]
        self._count.view[page] = len(relevance)
        self._sum.view[page] = relevance.sum()
        self._tell(np.array([page], np.int32))

    def fetched(self, url: int, row: int | None, relevance: float) -> Ids:
        """A page was fetched; the rows whose siblings have something new to tell."""
        self._make_room(url + 1)
        self._relevance.view[url] = relevance
        if row is None:
            return np.empty(0, np.int32)
        pages = self._page.view[self._citing.rows(row)]
        self._count.view[pages] += 1
        self._sum.view[pages] += np.float32(relevance)
        grown = pages[self._count.view[pages] > GROWTH * self._told_count.view[pages]]
        self._tell(grown)
        spans = [self._row.view[self._first.view[v] : self._last.view[v]] for v in grown.tolist()]
        return np.unique(np.concatenate(spans)) if spans else np.empty(0, np.int32)

    def evidence(self, rows: Ids) -> tuple[Floats, Floats]:
        """Share and best hub of rows, each of which is cited by a page at least."""
        edges, starts = self._citing.many(rows)
        pages = self._page.view[edges]
        count, total = self._told_count.view[pages], self._told_sum.view[pages]
        share = (_sums(total, starts) + 0.5) / (_sums(count, starts) + 1.0)
        best = np.maximum.reduceat(total / (count + DOUBT), starts) if len(rows) else total
        return share.astype(np.float32), best.astype(np.float32)

    def _tell(self, pages: Ids) -> None:
        self._told_count.view[pages] = self._count.view[pages]
        self._told_sum.view[pages] = self._sum.view[pages]

    def _make_room(self, urls: int) -> None:
        for column in (self._relevance, self._count, self._sum, self._told_count, self._told_sum):
            column.resize(urls)
        for column in (self._first, self._last):
            column.resize(urls)


def _sums(values: NDArray[np.generic], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    if len(starts) == 0:
        return np.empty(0, np.float64)
    return np.asarray(np.add.reduceat(values, starts, dtype=np.float64))
