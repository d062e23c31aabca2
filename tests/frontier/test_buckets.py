"""Buckets against a dictionary of sets, under any sequence of operations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tres.frontier.buckets import Buckets
from tres.mdp.paths import NONE

BUCKETS = 5


def ids(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


class BucketsMachine(RuleBasedStateMachine):
    """Rows enter, move, leave; the model is a plain dictionary row -> bucket."""

    def __init__(self) -> None:
        super().__init__()
        self.buckets = Buckets()
        self.buckets.make_room(0, BUCKETS)
        self.model: dict[int, int] = {}
        self.rows = 0

    @rule(into=st.lists(st.integers(0, BUCKETS - 1), max_size=12))
    def insert(self, into: list[int]) -> None:
        new = list(range(self.rows, self.rows + len(into)))
        self.rows += len(into)
        self.buckets.make_room(self.rows, BUCKETS)
        self.buckets.insert(ids(new), ids(into))
        self.model.update(zip(new, into, strict=True))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove_some(self, data: st.DataObject) -> None:
        gone = data.draw(st.lists(st.sampled_from(sorted(self.model)), unique=True))
        self.buckets.remove(ids(gone))
        for row in gone:
            del self.model[row]

    @rule(bucket=st.integers(0, BUCKETS - 1))
    def clear(self, bucket: int) -> None:
        rows = set(self.buckets.clear(bucket).tolist())
        assert rows == {row for row, where in self.model.items() if where == bucket}
        self.model = {row: where for row, where in self.model.items() if where != bucket}

    @rule(each=st.integers(1, 4), seed=st.integers(0, 99))
    def sample(self, each: int, seed: int) -> None:
        occupied = np.flatnonzero(self.buckets.counts)
        drawn = self.buckets.sample(occupied, each, np.random.default_rng(seed))
        assert drawn.shape == (len(occupied), each)
        for bucket, rows in zip(occupied.tolist(), drawn.tolist(), strict=True):
            assert all(self.model[row] == bucket for row in rows)
            if self.buckets.counts[bucket] >= each:
                assert len(set(rows)) == each

    @invariant()
    def the_buckets_hold_what_the_model_holds(self) -> None:
        assert len(self.buckets) == len(self.model)
        for bucket in range(BUCKETS):
            held = self.buckets.rows(bucket).tolist()
            assert sorted(held) == sorted(r for r, b in self.model.items() if b == bucket)
        everything = ids(list(range(self.rows)))
        where = [self.model.get(row, NONE) for row in range(self.rows)]
        assert self.buckets.of(everything).tolist() == where


BucketsMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestBuckets = BucketsMachine.TestCase


@pytest.mark.parametrize("each", [1, 3])
def test_every_row_of_a_bucket_is_equally_likely(each: int) -> None:
    buckets = Buckets()
    buckets.make_room(10, 1)
    buckets.insert(np.arange(10, dtype=np.int32), np.zeros(10, np.int32))
    rng = np.random.default_rng(1)
    draws = np.concatenate(
        [buckets.sample(np.array([0]), each, rng).ravel() for _ in range(12_000 // each)]
    )
    counts = np.bincount(draws, minlength=10)
    # chi-square with 9 degrees of freedom: above 28 once in a thousand fair trials
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 28


def test_memory_is_reclaimed_when_rows_come_and_go() -> None:
    buckets = Buckets()
    buckets.make_room(2000, 20)
    rows = np.arange(2000, dtype=np.int32)
    for turn in range(30):
        buckets.insert(rows, (rows * (turn + 1) % 20).astype(np.int32))
        for bucket in range(20):
            buckets.clear(bucket)
    buckets.insert(rows, rows % 20)
    assert buckets.nbytes < 2000 * 60
