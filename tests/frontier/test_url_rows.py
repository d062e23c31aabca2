"""Evidence about a URL grows with every page that is found to cite it."""

from __future__ import annotations

import numpy as np
import pytest

from tres.frontier.url_rows import UrlRows
from tres.mdp.feature_schema import EVIDENCE
from tres.mdp.paths import PathFeatures
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks


@pytest.fixture
def sites() -> Sites:
    sites = Sites()
    sites.make_room(2)
    return sites


@pytest.fixture
def rows(sites: Sites) -> UrlRows:
    return UrlRows(EVIDENCE, sites)


def cite(
    page: int, relevance: float, anchor: float, path: tuple[float, float, float], **flags: bool
) -> Outlinks:
    """A page that links to URL 7 of site 1."""
    return Outlinks(
        page=page,
        relevance=relevance,
        relevant=relevance >= 0.5,
        path=PathFeatures(*path),
        urls=np.array([7], np.int32),
        sites=np.array([1], np.int32),
        same_site=np.array([flags.get("same_site", False)]),
        url_keyword=np.array([flags.get("url_keyword", False)]),
        anchor_keyword=np.array([flags.get("anchor_keyword", False)]),
        anchor_relevance=np.array([anchor], np.float32),
        places=np.array([0], np.int32),
    )


def test_three_citing_pages_worked_out_by_hand(rows: UrlRows, sites: Sites) -> None:
    rows.add_links(cite(1, 0.9, 0.2, (1.0, 1.0, 0.5)))
    rows.add_links(cite(2, 0.3, 0.8, (0.0, 0.5, 0.9), anchor_keyword=True))
    change = rows.add_links(cite(3, 0.6, 0.5, (1.0, 1.0, 0.75), same_site=True))
    assert len(change.new) == 0
    assert len(rows) == rows.total == 1
    for relevant in (True, True, False):
        sites.count(1, relevant)
    assert EVIDENCE.named(rows.vectors(change.updated)[0]) == pytest.approx(
        {
            "citations": np.log(4),
            "relevant_citations": np.log(3),
            "relevant_share": 2 / 3,
            "parent_relevance_mean": 0.6,
            "parent_relevance_max": 0.9,
            "anchor_relevance_mean": 0.5,
            "anchor_relevance_max": 0.8,
            "url_keyword": 0,
            "anchor_keyword": 1,
            "path_relevance": 0.75,  # of the best path: nearest first, then most relevant
            "inverse_distance": 1.0,
            "same_site": 1,
            "siblings_relevance": 0.5,
            "best_hub": 0,
            "neighbours_relevance": 0.5,
            "words_relevance": 1 / (1 + np.e),  # nobody read any words
            "site_relevance": 2.5 / 4,
            "site_fetched": np.log(4) / 3,
        }
    )


def test_the_parent_is_the_page_with_the_best_path(rows: UrlRows) -> None:
    row = int(rows.add_links(cite(1, 0.9, 0.0, (0.0, 0.5, 0.5))).new[0])
    assert rows.page(row) == 1
    rows.add_links(cite(2, 0.9, 0.0, (0.0, 0.5, 0.4)))
    assert rows.page(row) == 1
    rows.add_links(cite(3, 0.1, 0.0, (1.0, 1.0, 0.1)))
    assert rows.page(row) == 3


def test_a_seed_has_no_state_features(rows: UrlRows) -> None:
    vector = EVIDENCE.named(rows.seed_vectors(cite(1, 0.9, 0.7, (1, 1, 1), url_keyword=True))[0])
    given = {name: value for name, value in vector.items() if value}
    assert given == pytest.approx(
        {
            "anchor_relevance_mean": 0.7,
            "anchor_relevance_max": 0.7,
            "url_keyword": 1,
            "words_relevance": 1 / (1 + np.e),
            "site_relevance": 0.5,
        }
    )
