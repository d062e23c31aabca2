"""Orders in which pages are worth a judgement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.relevance.label_candidates import (
    alternate,
    influence,
    largest_first,
    least_sure,
    site_by_site,
)

orders = st.integers(0, 8).flatmap(lambda n: st.permutations(range(n)))


def test_pages_nearest_to_the_threshold_come_first_on_either_side():
    assert least_sure([0.125, 0.5625, 0.4375, 1.0]) == [1, 2, 0, 3]


def test_ties_keep_the_order_of_the_crawl():
    assert least_sure([0.75, 0.25, 0.75]) == [0, 1, 2]
    assert largest_first([2, 5, 2, 5]) == [1, 3, 0, 2]


def test_every_site_has_its_turn_before_one_has_a_second():
    sites = ["a", "a", "a", "b", "c", "b"]

    assert site_by_site([2, 0, 1, 5, 3, 4], sites) == [2, 5, 4, 0, 3, 1]


@given(orders)
def test_on_a_single_site_the_ranking_stays(order):
    assert site_by_site(order, ["a"] * len(order)) == list(order)


@given(orders, st.lists(st.sampled_from("abc"), min_size=8, max_size=8))
def test_no_page_is_lost_or_doubled(order, sites):
    assert sorted(site_by_site(order, sites)) == sorted(order)
    assert sorted(alternate(order, order[::-1])) == sorted(order)


def test_rankings_alternate_and_every_page_is_shown_once():
    assert list(alternate([3, 1, 2, 0], [3, 0, 1, 2])) == [3, 1, 0, 2]


def test_influence_counts_the_pages_found_on_a_page():
    of_a, of_b, of_c = influence(["a", "b", "c"], ["", "a", "a"], [["b", "c"], [], []])

    assert (of_a, of_b, of_c) == (pytest.approx(2 / 3), 0, 0)


def test_influence_divides_a_waiting_url_among_the_pages_that_link_to_it():
    shared, own, none = influence(
        ["a", "b", "c"], ["", "", ""], [["x", "x", "b"], ["x", "y", "z"], ["a"]]
    )

    assert (shared, own, none) == (pytest.approx(1 / 6), pytest.approx(5 / 6), 0)


def test_all_influence_of_a_crawl_adds_up_to_one_whole_of_each_kind():
    urls, links = ["a", "b", "c"], [["b", "x"], ["c", "y"], ["a", "x"]]

    assert sum(influence(urls, ["", "a", "b"], links)) == pytest.approx(2 / 3 + 1)


def test_a_crawl_without_links_has_no_influence():
    assert influence(["a"], [""], [[]]) == [0]
    assert influence([], [], []) == []
