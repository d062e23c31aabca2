"""Rows of both kinds against plain Python, whatever pages say about whatever URLs."""

from __future__ import annotations

from collections import defaultdict
from math import exp, log1p
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.rows import ids, outlinks, plain
from tests.support.webs import To

from tres.frontier.rows import LEVEL_STEP, Rows
from tres.mdp.feature_schema import SCHEMAS
from tres.mdp.paths import PathFeatures
from tres.mdp.sites import Sites
from tres.policies.setup import make_rows

SITES = 3
URLS = 9  # url u is on site u % SITES

shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])


class Citation(NamedTuple):
    """One link, as a page makes it."""

    url: int
    page: int
    relevance: float
    path: PathFeatures
    to: To
    same_site: bool


@st.composite
def pages_of_links(draw: st.DrawFn) -> list[list[Citation]]:
    """Pages, each with links to different URLs."""
    pages = []
    for page in range(draw(st.integers(1, 6))):
        relevance, own_site = draw(shares), draw(st.integers(0, SITES - 1))
        path = PathFeatures(float(relevance >= 0.5), draw(shares), draw(shares))
        urls = draw(st.lists(st.integers(0, URLS - 1), unique=True, max_size=URLS))
        tos = [To("", draw(shares), draw(st.booleans()), draw(st.booleans())) for _ in urls]
        pages.append(
            [
                Citation(url, page, relevance, path, to, url % SITES == own_site)
                for url, to in zip(urls, tos, strict=True)
            ]
        )
    return pages


def fresh(features: str) -> tuple[Rows, Sites]:
    sites = Sites()
    sites.make_room(SITES)
    return make_rows(features, sites), sites


def take_in(rows: Rows, page: list[Citation]) -> None:
    if page:
        first = page[0]
        own_site = next((c.url % SITES for c in page if c.same_site), -1)
        links = [(c.url, c.url % SITES, c.to) for c in page]
        rows.add_links(outlinks(links, first.page, first.relevance, first.path, own_site))


@given(pages=pages_of_links())
def test_an_edge_row_says_what_its_own_page_said(pages: list[list[Citation]]) -> None:
    rows, _ = fresh("paper")
    for page in pages:
        take_in(rows, page)
    citations = [c for page in pages for c in page]
    expected = [
        [*c.path, c.to.url_keyword, c.to.anchor_keyword, c.to.anchor_relevance, 0.5, 0.5]
        for c in citations
    ]
    everything = np.arange(rows.total, dtype=np.int32)
    assert rows.vectors(everything) == pytest.approx(np.array(expected).reshape(-1, 8))
    assert [rows.page(row) for row in range(rows.total)] == [c.page for c in citations]
    for url in range(URLS):
        of_url = {row for row, c in enumerate(citations) if c.url == url}
        assert set(rows.of_url(url).tolist()) == of_url


@given(pages=pages_of_links())
def test_a_url_row_says_what_all_its_citing_pages_say(pages: list[list[Citation]]) -> None:
    rows, _ = fresh("evidence")
    by_url: dict[int, list[Citation]] = defaultdict(list)
    for page in pages:
        take_in(rows, page)
        for citation in page:
            by_url[citation.url].append(citation)
    assert len(rows) == rows.total == len(by_url)
    for url, citations in by_url.items():
        (row,) = rows.of_url(url)
        named = rows.schema.named(rows.vectors(ids(row))[0])
        assert named == pytest.approx(evidence(citations), abs=1e-6)
        assert rows.page(int(row)) == best_path(citations).page


def evidence(citations: list[Citation]) -> dict[str, float]:
    """The table of the design, word for word, for a site that gave nothing yet."""
    n, relevant = len(citations), sum(c.relevance >= 0.5 for c in citations)
    parents = [c.relevance for c in citations]
    anchors = [c.to.anchor_relevance for c in citations]
    return {
        "citations": log1p(n),
        "relevant_citations": log1p(relevant),
        "relevant_share": relevant / n,
        "parent_relevance_mean": sum(parents) / n,
        "parent_relevance_max": max(parents),
        "anchor_relevance_mean": sum(anchors) / n,
        "anchor_relevance_max": max(anchors),
        "url_keyword": float(any(c.to.url_keyword for c in citations)),
        "anchor_keyword": float(any(c.to.anchor_keyword for c in citations)),
        "path_relevance": best_path(citations).path.path_relevance,
        "inverse_distance": best_path(citations).path.inverse_distance,
        "same_site": float(any(c.same_site for c in citations)),
        "siblings_relevance": 0.5,  # none of them was fetched
        "best_hub": 0.0,
        "neighbours_relevance": 0.5,
        "words_relevance": 1 / (1 + exp(1)),  # nobody read any words
        "site_relevance": 0.5,
        "site_fetched": 0.0,
    }


def best_path(citations: list[Citation]) -> Citation:
    """The nearest relevant page, then the more relevant path, then the first."""
    return max(citations, key=lambda c: (c.path.inverse_distance, c.path.path_relevance))


@pytest.mark.parametrize("features", SCHEMAS)
def test_the_fresh_vector_follows_the_counters_and_the_routed_one_in_steps(features: str) -> None:
    rows, sites = fresh(features)
    (row,) = rows.add_links(plain({4: 1})).new
    wide = slice(len(rows.schema.link_features), None)
    moves = 0
    for relevant in [True, *[False] * 60]:
        sites.count(1, relevant)
        moved = rows.follow_site(1).tolist()
        assert moved in ([], [row])
        moves += bool(moved)
        now = rows.vectors(ids(row))[0]
        routed = rows.routed_vectors(ids(row))[0]
        expected = [float(f(sites, ids(1))[0]) for f in rows.schema.site_features.values()]
        assert now[wide].tolist() == pytest.approx(expected)
        assert np.abs(now - routed).max(initial=0.0) <= LEVEL_STEP + 1e-6
        if moved:
            assert routed.tolist() == now.tolist()
    # Sixty fetches, but the rows of the site were sorted anew only a handful of times.
    assert 0 < moves <= 25 or not rows.schema.site_features


@pytest.mark.parametrize("features", SCHEMAS)
def test_another_sites_rows_stay_where_they_are(features: str) -> None:
    rows, sites = fresh(features)
    first, second = rows.add_links(plain({3: 0, 4: 1})).new.tolist()
    sites.count(0, True)
    assert rows.follow_site(0).tolist() == ([first] if rows.schema.site_features else [])
    assert rows.of_site(1).tolist() == [second]


@pytest.mark.parametrize("features", SCHEMAS)
def test_retired_rows_wait_no_longer_but_keep_their_vectors_for_replay(features: str) -> None:
    rows, _ = fresh(features)
    take_in(rows, [Citation(4, 0, 0.9, PathFeatures(1, 1, 1), To("", 0.25, True), False)])
    before = rows.vectors(ids(0)).tolist()
    rows.retire(rows.of_url(4))
    assert len(rows) == len(rows.waiting) == len(rows.of_url(4)) == len(rows.of_site(1)) == 0
    take_in(rows, [Citation(5, 1, 0.1, PathFeatures(0, 0, 0), To("", 0.5), False)])
    assert rows.vectors(ids(0)).tolist() == before
    assert rows.waiting.tolist() == [1]


@pytest.mark.parametrize("features", SCHEMAS)
def test_nothing_is_known_of_urls_and_sites_never_heard_of(features: str) -> None:
    rows, _ = fresh(features)
    assert len(rows.of_url(77)) == len(rows.of_site(77)) == 0
