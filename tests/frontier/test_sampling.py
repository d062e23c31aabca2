"""Sampling the Tree-Frontier: who represents a leaf, and who must not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.rows import ids, outlinks
from tests.support.webs import To

from tres.frontier.decision_tree import Tree
from tres.frontier.edge_rows import EdgeRows
from tres.frontier.tree_frontier import TreeFrontier
from tres.mdp.feature_schema import NO_SITE
from tres.mdp.sites import Sites

SITES = 4
LEAVES = 4  # anchor relevance 0, 0.25, 0.5, 0.75: one leaf each
ANCHOR = NO_SITE.column("anchor_relevance")


def frontier_of(rows: list[tuple[int, int]], seed: int = 0) -> TreeFrontier:
    """A tree with four leaves; every row is given as (leaf, site)."""
    sites = Sites()
    sites.make_room(SITES)
    store = EdgeRows(NO_SITE, sites)
    tree = Tree(NO_SITE.width, min_split=2)
    for leaf in [*range(LEAVES)] * 2:  # rewards 0 1 0 1: nothing is pure before it is alone
        vector = np.zeros(NO_SITE.width, np.float32)
        vector[ANCHOR] = leaf / LEAVES
        tree.learn(vector, float(leaf % 2))
    assert tree.leaves == LEAVES
    links = [(url, site, To("", leaf / LEAVES)) for url, (leaf, site) in enumerate(rows)]
    frontier = TreeFrontier(store, tree, np.random.default_rng(seed))
    frontier.insert(store.add_links(outlinks(links)).new)
    return frontier


def flags(waiting: set[int]) -> np.ndarray:
    return np.array([site in waiting for site in range(SITES)])


some_rows = st.lists(st.tuples(st.integers(0, LEAVES - 1), st.integers(0, SITES - 1)), max_size=40)


@given(rows=some_rows)
def test_every_occupied_leaf_is_represented_by_exactly_one_of_its_rows(
    rows: list[tuple[int, int]],
) -> None:
    frontier = frontier_of(rows)
    drawn = frontier.sample(frontier.occupied, 1).tolist()
    leaves = [rows[row][0] for row in drawn]
    assert sorted(leaves) == sorted({leaf for leaf, _ in rows})


@given(rows=some_rows, waiting=st.sets(st.integers(0, SITES - 1)), each=st.integers(1, 5))
def test_a_leaf_offers_a_ready_row_if_it_has_one_and_never_a_waiting_one(
    rows: list[tuple[int, int]], waiting: set[int], each: int
) -> None:
    frontier = frontier_of(rows)
    drawn = frontier.sample(frontier.occupied, each, flags(waiting)).tolist()
    assert all(rows[row][1] not in waiting for row in drawn)
    ready = {leaf for leaf, site in rows if site not in waiting}
    assert Counter(rows[row][0] for row in drawn) == dict.fromkeys(ready, each)


@given(rows=some_rows, each=st.integers(1, 5))
def test_a_leaf_with_enough_rows_shows_different_ones(
    rows: list[tuple[int, int]], each: int
) -> None:
    frontier = frontier_of(rows)
    drawn = Counter(frontier.sample(frontier.occupied, each).tolist())
    held = Counter(leaf for leaf, _ in rows)
    assert all(count == 1 for row, count in drawn.items() if held[rows[row][0]] >= each)


def test_the_only_ready_row_among_hundreds_is_found() -> None:
    frontier = frontier_of([(0, 0)] * 300 + [(0, 1)] + [(0, 2)] * 300)
    for _ in range(20):
        assert frontier.sample(frontier.occupied, 1, flags({0, 2})).tolist() == [300]


@pytest.mark.parametrize("waiting", [set(), {0}, {0, 1, 2}])
def test_every_ready_row_of_a_leaf_is_equally_likely(waiting: set[int]) -> None:
    rows = [(0, row % SITES) for row in range(16)]
    ready = [row for row, (_, site) in enumerate(rows) if site not in waiting]
    frontier = frontier_of(rows, seed=1)
    draws = 200 * len(ready)
    counts = Counter(
        int(frontier.sample(frontier.occupied, 1, flags(waiting))[0]) for _ in range(draws)
    )
    assert set(counts) <= set(ready)
    # Chi-square with at most 15 degrees of freedom: above 45 about once in ten thousand trials.
    assert sum((counts[row] - 200) ** 2 / 200 for row in ready) < 45


def test_rows_that_left_are_never_drawn() -> None:
    frontier = frontier_of([(leaf, 0) for leaf in range(LEAVES) for _ in range(5)])
    frontier.remove(ids(*range(0, 20, 2), 1, 3))
    left = {row for row in range(20) if row % 2} - {1, 3}
    drawn = {int(row) for _ in range(100) for row in frontier.sample(frontier.occupied, 1)}
    assert drawn == left
