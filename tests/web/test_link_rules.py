"""Which links may be followed: patterns of the user, and traps by name."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.settings.sections import LiveSection
from tres.web import link_rules as rules_module
from tres.web.link_rules import LinkRules, trap
from tres.web.page import Link
from tres.web.url import canonical

SITE = "http://example.org"
YEAR = 2026


def filtered(*urls: str, **settings: object) -> tuple[list[str], dict[str, int]]:
    rules = LinkRules(LiveSection(**settings), YEAR)
    links = [Link(url if "://" in url else SITE + url, "") for url in urls]
    return [link.url.removeprefix(SITE) for link in rules.filter_links(links)], dict(rules.dropped)


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(rules_module).failed == 0


def test_only_included_links_are_followed():
    kept = filtered("/wiki/A", "/talk/A", include=["/wiki/", "^https:"])
    assert kept == (["/wiki/A"], {"include": 1})


def test_excluded_links_are_not_followed_even_if_included():
    kept = filtered("/wiki/A", "/wiki/B?edit", include=["/wiki/"], exclude=[r"\?edit"])
    assert kept == (["/wiki/A"], {"exclude": 1})


def test_links_are_followed_under_their_identity_and_keep_their_words():
    rules = LinkRules(LiveSection(drop_parameters=["from"]), YEAR)
    links = list(rules.filter_links([Link(f"{SITE}/a?from=b&utm_id=1", "words")]))
    assert links == [Link(f"{SITE}/a", "words")]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("/photo.JPG", "file"),
        ("/paper.pdf?download=1", "file"),
        ("/a/" + "x" * 500, "long"),
        ("/a" * 17, "deep"),
        ("/a?" + "&".join(f"p{i}=1" for i in range(11)), "parameters"),
        ("/a/b/a/b/a/b", "repetition"),
        ("/x/a/a/a/y", "repetition"),
        ("/a/1/a/2/a/3/a/4", "repetition"),
        ("/calendar/2031/05", "calendar"),
        ("/events?year=2040&month=1", "calendar"),
        ("/calendar?date=1931-05", "calendar"),
        ("/calendar?year=9999", "calendar"),
        ("/blog/2031/05/", "calendar"),
    ],
)
def test_every_trap_has_a_name(url, name):
    assert filtered(url) == ([], {name: 1})
    assert filtered(url, traps=False) == ([url], {})


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/news/2026/05/13/a-story",
        "/archive/1897/03/12/front-page",
        "/events/2027/01",
        "/wiki/Saint-Jean/Saint-Jean",
        "/a/b/c/a/b/d",
        "/python3.11/library/re.html",
        "/download.php?id=7",
        "/people/j.doe",
        "/page?ref=4711-05",
        "/order/2050-12",
        "/phone/2049/77",
        "http://example.zip",
        "http://files.zip/x",
        "/v1.2.3",
    ],
)
def test_pages_for_people_are_not_taken_for_traps(url):
    url = canonical(url if "://" in url else SITE + url)
    assert url is not None
    assert trap(url, YEAR) == ""


@fuzzed
@given(st.lists(st.sampled_from([*"/?&=-.", "a", "b", "2031", "05", "year="])).map("".join))
def test_rules_never_raise_and_judge_by_the_url_alone(rest):
    url = canonical(f"{SITE}/{rest}")
    if url:
        rules = LinkRules(LiveSection(), YEAR)
        assert [*rules.filter_links([Link(url, "")])] == [*rules.filter_links([Link(url, "")])]
