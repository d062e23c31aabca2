"""Folds for cross-validation: the same share of both classes, and no site in two of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tres.relevance.training import site_folds, stratified_folds


def spread(sizes):
    """Sites given as (relevant, irrelevant) pages: the truth and the site of each page."""
    truth = [label for yes, no in sizes for label in [True] * yes + [False] * no]
    sites = [f"{place}.org" for place, (yes, no) in enumerate(sizes) for _ in range(yes + no)]
    return np.array(truth, bool), sites


def divide(sizes, folds, seed=1):
    truth, sites = spread(sizes)
    return truth, sites, site_folds(truth, sites, folds, np.random.default_rng(seed))


def counts(truth, fold_of, folds):
    """The pages of each fold, as (relevant, irrelevant)."""
    return [
        tuple(int((fold_of[truth == each] == fold).sum()) for each in (True, False))
        for fold in range(folds)
    ]


SIZES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


@settings(deadline=None)
@given(SIZES, st.integers(2, 6), st.integers(0, 9))
def test_all_pages_of_a_site_are_in_one_fold(sizes, folds, seed):
    truth, sites, fold_of = divide(sizes, folds, seed)

    assert len(fold_of) == len(truth)
    assert all(0 <= fold < folds for fold in fold_of)
    assert len({*zip(sites, fold_of.tolist(), strict=True)}) == len({*sites})


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 9), max_size=20), st.lists(st.integers(1, 9), max_size=20),
    st.integers(2, 6),
)  # fmt: skip
def test_folds_differ_by_no_more_than_the_largest_site_of_a_class(relevant, irrelevant, folds):
    sizes = [(size, 0) for size in relevant] + [(0, size) for size in irrelevant]
    truth, _, fold_of = divide(sizes, folds)

    for pages, of_class in zip(
        zip(*counts(truth, fold_of, folds), strict=True), (relevant, irrelevant), strict=True
    ):
        assert max(pages) - min(pages) <= max(of_class, default=0)


def test_both_classes_are_spread_also_where_sites_have_both():
    sizes = [(8, 2), (2, 8), (8, 2), (2, 8), (6, 0), (0, 6), (6, 0), (0, 6)]
    truth, _, fold_of = divide(sizes, 2)

    assert counts(truth, fold_of, 2) == [(16, 16), (16, 16)]


def test_the_rare_class_is_spread_as_evenly_as_the_common_one():
    sizes = [(1, 0)] * 10 + [(0, 100)] * 10
    truth, _, fold_of = divide(sizes, 5)

    assert counts(truth, fold_of, 5) == [(2, 200)] * 5


def test_one_seed_gives_the_same_folds_and_another_seed_others():
    sizes = [(1, 0)] * 20 + [(0, 1)] * 40

    assert divide(sizes, 5, seed=1)[2].tolist() == divide(sizes, 5, seed=1)[2].tolist()
    assert divide(sizes, 5, seed=1)[2].tolist() != divide(sizes, 5, seed=2)[2].tolist()


def test_a_giant_site_has_a_fold_of_its_own():
    truth, sites, fold_of = divide([(500, 900), *[(1, 0)] * 8, *[(0, 1)] * 8], 5)

    giant = fold_of[0]
    assert {site for site, fold in zip(sites, fold_of, strict=True) if fold == giant} == {"0.org"}
    assert sorted(counts(truth, fold_of, 5)) == [(2, 2)] * 4 + [(500, 900)]


def test_one_site_alone_is_one_fold():
    assert len({*divide([(3, 9)], 5)[2].tolist()}) == 1


@pytest.mark.parametrize("folds", [2, 5])
def test_stratified_folds_have_equal_shares_of_both_classes(folds):
    truth = np.arange(100) < 20

    fold_of = stratified_folds(truth, folds, np.random.default_rng(1))

    assert counts(truth, fold_of, folds) == [(20 // folds, 80 // folds)] * folds
