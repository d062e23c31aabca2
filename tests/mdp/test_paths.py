"""Web paths, and the state-action example of the paper's Figure 2."""

from __future__ import annotations

import numpy as np
import pytest

from tres.frontier.edge_rows import EdgeRows
from tres.mdp.feature_schema import PAPER
from tres.mdp.paths import NONE, WebPaths
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks

SEED, A, B, C, D = range(5)


@pytest.fixture
def figure_2() -> WebPaths:
    """Seed (relevant) -> A (relevant) -> C (not relevant), and B (not relevant) elsewhere."""
    paths = WebPaths()
    paths.extend(SEED, NONE, 1.0, True)
    paths.extend(A, SEED, 1.0, True)
    paths.extend(B, SEED, 0.0, False)
    paths.extend(C, A, 0.0, False)
    return paths


def test_the_state_of_figure_2(figure_2: WebPaths) -> None:
    # The link (C, D): C earned nothing, the nearest relevant page is A, two edges back from D,
    # and two of the three pages seed, A, C are relevant.
    assert figure_2.features(C) == pytest.approx((0.0, 1 / 2, 2 / 3))


def test_the_whole_vector_of_figure_2(figure_2: WebPaths) -> None:
    # No keyword in anchor or URL, classifier 0.3; three of the site's four pages are relevant.
    sites = Sites()
    sites.make_room(1)
    for relevant in (True, True, True, False):
        sites.count(0, relevant)
    rows = EdgeRows(PAPER, sites)
    change = rows.add_links(link_to_d(figure_2))
    expected = [0, 1 / 2, 2 / 3, 0, 0, 0.3, 3 / 4, 1]
    assert rows.vectors(change.new)[0] == pytest.approx(expected)


def test_a_site_nobody_fetched_from_is_expected_to_be_half_relevant(figure_2: WebPaths) -> None:
    sites = Sites()
    sites.make_room(1)
    rows = EdgeRows(PAPER, sites)
    change = rows.add_links(link_to_d(figure_2))
    named = PAPER.named(rows.vectors(change.new)[0])
    assert (named["site_relevance"], named["site_known"]) == (0.5, 0.5)


def test_the_parents_relevance_makes_the_distance_one(figure_2: WebPaths) -> None:
    assert figure_2.features(A) == pytest.approx((1.0, 1.0, 1.0))


def test_a_path_without_relevant_pages_is_infinitely_far() -> None:
    paths = WebPaths()
    paths.extend(SEED, NONE, 0.0, False)
    paths.extend(A, SEED, 0.0, False)
    assert paths.features(A) == (0.0, 0.0, 0.0)


def test_every_page_has_one_path_from_its_seed(figure_2: WebPaths) -> None:
    assert figure_2.path(C) == [SEED, A, C]
    assert figure_2.path(B) == [SEED, B]
    assert figure_2.depth(C) == 2
    assert C in figure_2
    assert D not in figure_2


def link_to_d(paths: WebPaths) -> Outlinks:
    no, yes = np.zeros(1, np.bool_), np.ones(1, np.bool_)
    return Outlinks(
        page=C,
        relevance=0.1,
        relevant=False,
        path=paths.features(C),
        urls=np.array([D], np.int32),
        sites=np.array([0], np.int32),
        same_site=yes,
        url_keyword=no,
        anchor_keyword=no,
        anchor_relevance=np.array([0.3], np.float32),
    )
