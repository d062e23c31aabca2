"""Counts per site, and the features and caps that read them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.rows import ids

from tres.mdp.sites import Sites

EMPTY, HALF, GOOD = 0, 1, 2


@pytest.fixture
def sites() -> Sites:
    """Nothing of one site, one relevant page of two of another, three of four of a third."""
    sites = Sites()
    sites.make_room(3)
    for site, relevant in [(HALF, 1), (HALF, 0), (GOOD, 1), (GOOD, 1), (GOOD, 0), (GOOD, 1)]:
        sites.count(site, bool(relevant))
    return sites


def test_the_features_of_the_paper(sites: Sites) -> None:
    assert sites.ratio(ids(EMPTY, HALF, GOOD)).tolist() == [0.5, 0.5, 0.75]
    assert sites.known(ids(EMPTY, HALF, GOOD)).tolist() == [0.5, 1.0, 1.0]


def test_the_features_of_the_evidence_set(sites: Sites) -> None:
    # (0 + 0.5) / (0 + 1), (1 + 0.5) / (2 + 1), (3 + 0.5) / (4 + 1)
    assert sites.smoothed(ids(EMPTY, HALF, GOOD)) == pytest.approx([0.5, 0.5, 0.7])
    expected = [0.0, math.log(3) / 3, math.log(5) / 3]
    assert sites.volume(ids(EMPTY, HALF, GOOD)) == pytest.approx(expected)


def test_relevant_sites_have_a_relevant_page(sites: Sites) -> None:
    assert sites.relevant_sites == 2
    sites.count(EMPTY, relevant=False)
    assert sites.relevant_sites == 2
    assert [sites.pages(site) for site in range(3)] == [1, 2, 4]


def test_what_is_in_flight_fills_a_site_but_is_no_page_of_it(sites: Sites) -> None:
    sites.limit = 4
    sites.start_fetch(HALF)
    sites.start_fetch(HALF)
    assert sites.saturated().tolist() == [False, True, True]
    assert sites.at_limit().tolist() == [False, False, True]
    assert sites.ratio(ids(HALF)).tolist() == [0.5]
    sites.end_fetch(HALF)
    assert sites.saturated().tolist() == [False, False, True]


def test_without_a_cap_no_site_is_ever_full(sites: Sites) -> None:
    assert not sites.at_limit().any()
    assert not sites.saturated().any()


def test_features_are_taken_for_each_asked_site_in_order(sites: Sites) -> None:
    asked = ids(GOOD, EMPTY, GOOD)
    assert sites.ratio(asked).tolist() == [0.75, 0.5, 0.75]
    assert sites.ratio(asked).dtype == np.float32
