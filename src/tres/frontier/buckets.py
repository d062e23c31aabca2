"""Rows sorted into buckets, with exact removal and uniform sampling, without Python loops.

A frontier needs the same thing three times: the rows of a leaf, of a URL, of a site.
All buckets live in one arena of row ids; a bucket is a stretch of it (start, count,
capacity). Insertion appends to the stretch, removal fills the hole with the stretch's
last row, so both are O(1) and sampling is one random index per bucket. A bucket that
outgrows its stretch moves to the end of the arena; when half of the arena is abandoned
stretches, it is rebuilt.

Invariants: arena[start[b] + slot[r]] == r and bucket[r] == b for every row r in bucket b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tres.mdp.columns import Column, Ids
from tres.mdp.paths import NONE

_SMALLEST_ARENA_TO_REBUILD = 1024


class Buckets:
    """A partition of row ids; a row is in at most one bucket."""

    def __init__(self) -> None:
        self._arena = Column(np.int32)
        self._abandoned = 0
        self._start = Column(np.int64)
        self._capacity = Column(np.int32)
        self._count = Column(np.int32)
        self._bucket = Column(np.int32, fill=NONE)
        self._slot = Column(np.int32)

    def __len__(self) -> int:
        """Number of rows in all buckets."""
        return int(self._count.view.sum())

    @property
    def counts(self) -> Ids:
        """Number of rows per bucket."""
        return self._count.view

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        columns = (self._arena, self._start, self._capacity, self._count, self._bucket, self._slot)
        return sum(column.nbytes for column in columns)

    def make_room(self, rows: int, buckets: int) -> None:
        """Grow to hold this many rows and buckets."""
        for column in (self._bucket, self._slot):
            column.resize(rows)
        for column in (self._start, self._capacity, self._count):
            column.resize(buckets)

    def of(self, rows: Ids) -> Ids:
        """Return the bucket of each row, `NONE` for a row in no bucket."""
        return self._bucket.view[rows]

    def rows(self, bucket: int) -> Ids:
        """Return a copy of the rows of one bucket."""
        start, count = int(self._start.view[bucket]), int(self._count.view[bucket])
        return self._arena.view[start : start + count].copy()

    def insert(self, rows: Ids, buckets: Ids) -> None:
        """Put rows that are in no bucket into theirs."""
        if len(rows) == 0:
            return
        order = np.argsort(buckets, kind="stable")
        rows, buckets = rows[order], buckets[order]
        first, added = _runs(buckets)
        touched = buckets[first]
        self._reserve(touched, added)
        rank = np.arange(len(rows)) - np.repeat(first, added)
        slots = self._count.view[buckets] + rank
        self._arena.view[self._start.view[buckets] + slots] = rows
        self._slot.view[rows] = slots
        self._bucket.view[rows] = buckets
        self._count.view[touched] += added.astype(np.int32)

    def remove(self, rows: Ids) -> None:
        """Take distinct rows out of their buckets; the holes are filled from the ends."""
        if len(rows) == 1:
            self._remove_one(int(rows[0]))
        elif len(rows):
            self._remove_many(rows)

    def clear(self, bucket: int) -> Ids:
        """Empty a bucket for good and return its rows."""
        rows = self.rows(bucket)
        self._bucket.view[rows] = NONE
        self._count.view[bucket] = 0
        self._abandoned += int(self._capacity.view[bucket])
        self._capacity.view[bucket] = 0
        return rows

    def sample(
        self, buckets: NDArray[np.intp], each: int, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Draw `each` rows from every given (non-empty) bucket, evenly spaced from a random start.

        So every row is equally likely, and in a bucket with at least `each` rows they are
        distinct. With `each` = 1 this is plain uniform sampling.
        """
        counts = self._count.view[buckets]
        parts = (np.arange(each) + rng.random((len(buckets), 1))) / each
        slots = np.minimum((parts * counts[:, None]).astype(np.int64), counts[:, None] - 1)
        rows: Ids = self._arena.view[self._start.view[buckets][:, None] + slots]
        return rows

    def _remove_one(self, row: int) -> None:
        bucket, slot = self._bucket.view[row], self._slot.view[row]
        last = self._count.view[bucket] - 1
        start = self._start.view[bucket]
        mover = self._arena.view[start + last]
        self._arena.view[start + slot] = mover
        self._slot.view[mover] = slot
        self._count.view[bucket] = last
        self._bucket.view[row] = NONE

    def _remove_many(self, rows: Ids) -> None:
        rows = rows[np.argsort(self._bucket.view[rows], kind="stable")]
        buckets = self._bucket.view[rows]
        first, removed = _runs(buckets)
        touched = buckets[first]
        self._count.view[touched] -= removed.astype(np.int32)
        # The last `removed` slots of each touched bucket go; whoever stays but sits there moves.
        rank = np.arange(len(rows)) - np.repeat(first, removed)
        tail = self._arena.view[self._start.view[buckets] + self._count.view[buckets] + rank]
        self._bucket.view[rows] = NONE
        movers = tail[self._bucket.view[tail] != NONE]
        # Both in bucket order, they pair up: a bucket has as many movers as holes.
        holes = self._slot.view[rows] < self._count.view[buckets]
        self._slot.view[movers] = self._slot.view[rows[holes]]
        self._arena.view[self._start.view[buckets[holes]] + self._slot.view[movers]] = movers

    def _reserve(self, touched: Ids, added: NDArray[np.intp]) -> None:
        needed = self._count.view[touched] + added
        full = needed > self._capacity.view[touched]
        for bucket, need in zip(touched[full].tolist(), needed[full].tolist(), strict=True):
            self._move(bucket, need)
        if self._abandoned > max(_SMALLEST_ARENA_TO_REBUILD, len(self._arena) // 2):
            self._rebuild()

    def _move(self, bucket: int, need: int) -> None:
        """Give a bucket a stretch at the end of the arena; a second move takes room to spare."""
        old = self.rows(bucket)
        capacity = need if len(old) == 0 else need + need // 2
        start = len(self._arena)
        self._arena.resize(start + capacity)
        self._arena.view[start : start + len(old)] = old
        self._abandoned += int(self._capacity.view[bucket])
        self._start.view[bucket] = start
        self._capacity.view[bucket] = capacity

    def _rebuild(self) -> None:
        """Copy every stretch into a fresh arena, in bucket order."""
        capacities = self._capacity.view
        counts = self._count.view
        starts = np.cumsum(capacities, dtype=np.int64) - capacities
        rank = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        fresh = Column(np.int32)
        fresh.resize(int(capacities.sum()))
        fresh.view[np.repeat(starts, counts) + rank] = self._arena.view[
            np.repeat(self._start.view, counts) + rank
        ]
        self._arena = fresh
        self._start.view[:] = starts
        self._abandoned = 0


def _runs(ordered: Ids) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each run of equal numbers begins, and how long it is."""
    edge = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=edge[1:-1])
    edges = np.flatnonzero(edge)
    return edges[:-1], edges[1:] - edges[:-1]
