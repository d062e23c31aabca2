"""Endless spaces: bounded by site, in bounded memory, the same after a resume."""

from __future__ import annotations

import doctest

import pytest
from tests.support.webs import links

from tres.web import traps as traps_module
from tres.web.percept import Percept
from tres.web.traps import LIMITS, EndlessSpaces, space_of

SITE = "http://example.org"


def linking(*urls: str) -> Percept:
    return Percept(f"{SITE}/", "example.org", 0.9, links(*urls))


def combination(number: int) -> str:
    return f"{SITE}/shop?color={number}&size=1&order=price"


def crawled(spaces: EndlessSpaces, urls: list[str]) -> list[str]:
    """The links that are let in, page by page."""
    kept = []
    for start in range(0, len(urls), 10):
        percept = spaces.without_full_spaces(linking(*urls[start : start + 10]))
        spaces.remember(percept.links.urls)
        kept += percept.links.urls
    return kept


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(traps_module).failed == 0


@pytest.mark.parametrize(
    ("kind", "urls"),
    [
        ("combinations", [combination(i) for i in range(1000)]),
        (
            "dates",
            [f"{SITE}/diary/{1950 + i // 12}/{i % 12 + 1:02}" for i in range(800)],
        ),
        ("dates", [f"{SITE}/list?show_date=20{i % 90 + 10}-{i:04}" for i in range(800)]),
    ],
)
def test_a_space_ends_at_its_limit(kind, urls):
    spaces = EndlessSpaces()
    assert crawled(spaces, urls) == urls[: LIMITS[kind]]
    assert spaces.dropped == {kind: len(urls) - LIMITS[kind]}


def test_one_page_cannot_fill_more_than_the_space():
    spaces = EndlessSpaces()
    percept = spaces.without_full_spaces(linking(*map(combination, range(1000))))
    assert len(percept.links) == LIMITS["combinations"]


def test_links_that_were_let_in_are_let_in_again_and_count_once():
    spaces = EndlessSpaces()
    first = [combination(i) for i in range(100)]
    crawled(spaces, first * 5)
    assert crawled(spaces, [combination(i) for i in range(1000)]) == [
        combination(i) for i in range(LIMITS["combinations"])
    ]


def test_other_paths_and_sites_have_spaces_of_their_own():
    spaces = EndlessSpaces()
    crawled(spaces, [combination(i) for i in range(1000)])
    others = [f"{SITE}/other?a=1&b=2&c=3", "http://other.example/shop?a=1&b=2&c=3"]
    assert crawled(spaces, others) == others


@pytest.mark.parametrize(
    "url", [f"{SITE}/view?id=7", f"{SITE}/t?f=1&t=2", f"{SITE}/2026/05/13/a-story", f"{SITE}/a"]
)
def test_urls_that_name_a_thing_belong_to_no_space(url):
    assert space_of(url) is None


def test_the_columns_of_the_links_stay_together():
    spaces = EndlessSpaces()
    crawled(spaces, [combination(i) for i in range(1000)])
    percept = spaces.without_full_spaces(linking(f"{SITE}/a", combination(5000), f"{SITE}/b"))
    assert percept.links.urls == (f"{SITE}/a", f"{SITE}/b")
    assert {len(column) for column in (percept.links.sites, percept.links.anchor_relevance)} == {2}


def test_the_memory_is_a_fold_over_the_accepted_links():
    urls = [combination(i) for i in range(150)]
    whole, resumed = EndlessSpaces(), EndlessSpaces()
    crawled(whole, urls)
    resumed.remember(linking(*urls).links.urls)
    later = [combination(i) for i in range(100, 400)]
    assert crawled(whole, later) == crawled(resumed, later)
