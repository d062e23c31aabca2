"""The text of a page is what it says, without the menus around it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web.boilerplate import LEAST_CHARS
from tres.web.flat_html import REGIONS
from tres.web.page import Link, Page
from tres.web.parse import parse_html

URL = "http://example.org/a/b"
STORY = "It was a dark and stormy night; the rain fell in torrents. " * 10
TAGS = [f"<{mark}{name}>" for name in REGIONS for mark in ("", "/")]


def text_of(html: str) -> str:
    outcome = parse_html(URL, html)
    assert isinstance(outcome, Page)
    return outcome.text


@pytest.mark.parametrize(
    "tag", ["nav", "header", "footer", "aside", "button", "select", "textarea", "NAV"]
)
def test_text_around_the_content_is_not_read(tag):
    assert text_of(f"<p>{STORY}<{tag} class=x>Home <b>News</b></{tag}><p>end") == (
        f"{STORY.strip()}\nend"
    )


def test_its_links_are_links_all_the_same():
    outcome = parse_html(URL, f"<nav><a href=/x>Menu</a></nav><p>{STORY}")
    assert isinstance(outcome, Page)
    assert outcome.links == (Link("http://example.org/x", "Menu"),)


def test_a_menu_is_never_text_even_if_there_is_no_other():
    assert text_of("<nav><a href=/x>Menu</a></nav>") == ""
    assert text_of("<p>short</p><nav>Menu</nav>") == "short"


@pytest.mark.parametrize("content", ["article", "main"])
def test_the_header_of_an_article_is_content(content):
    html = f"<header>Site</header><{content}><header>Head</header>{STORY}</{content}>"
    assert text_of(html) == f"Head\n{STORY.strip()}"


def test_a_menu_in_an_article_is_a_menu_still():
    assert text_of(f"<article><nav>Contents</nav>{STORY}</article>") == STORY.strip()


def test_regions_lie_in_each_other():
    html = f"<header>a<nav>b<nav>c</nav>d</nav>e</header>{STORY}<footer>f<nav>g</nav></footer>"
    assert text_of(html) == STORY.strip()


class TestMistakes:
    @pytest.mark.parametrize(
        "html",
        [
            "<nav>Menu<p>{}",
            "<header>Menu<nav>More</header>{}",
            "</nav>Menu<p>{}",
            "<aside>Menu<aside>{}",
            "<nav>Menu<main>{}</main></nav>",
            "<nav>Menu<div><article>{}</nav>",
            "<header><aside><main>{}</main></aside></header>",
        ],
    )
    def test_a_mistake_does_not_swallow_the_page(self, html):
        assert STORY.strip() in text_of(html.format(STORY))

    def test_an_unclosed_menu_costs_nothing_and_the_next_one_is_still_cut(self):
        assert text_of(f"<nav>One<p>{STORY}<nav>Two</nav>") == f"One\n{STORY.strip()}"

    def test_if_next_to_nothing_is_left_only_menus_are_cut(self):
        html = f"<nav>Menu</nav><header>{STORY}</header><p>{'x' * (LEAST_CHARS // 2)}</p>"
        assert text_of(html) == f"{STORY.strip()}\n{'x' * (LEAST_CHARS // 2)}"
        long = STORY * 100
        assert text_of(f"<aside>{long}</aside><p>{STORY}").startswith(long.strip())

    @pytest.mark.parametrize("mark", ["\ufdd0", "&#xFDD0;", "&#64976;", "&#x0fdd0", "&#0064976"])
    def test_a_page_cannot_forge_the_marks(self, mark):
        closing = mark.replace("0;", "1;").replace("76", "77").replace("\ufdd0", "\ufdd1")
        text = text_of(f"a {mark} b {STORY} {closing} c")
        assert STORY.strip() in text
        assert not set(map(chr, range(0xFDD0, 0xFDF0))) & set(text)


def test_marks_stay_out_of_titles_anchors_and_attributes():
    outcome = parse_html(
        URL,
        "<title>a<nav>b</title><a href='x<nav>y'><nav>c</nav>d</a><a href=z><img alt='<nav>e'></a>",
    )
    assert isinstance(outcome, Page)
    seen = [outcome.title, *(each for link in outcome.links for each in (link.url, link.anchor))]
    assert all(part.isascii() for part in seen)
    assert not any("%EF%B7" in link.url for link in outcome.links)


@pytest.mark.parametrize(
    "html",
    [
        "<nav>" * 60_000,
        "<nav><header>" * 30_000 + "</header></nav>" * 30_000,
        "<nav>" * 30_000 + "</header>" * 30_000,
        "<header><aside>" * 30_000 + "</header>" * 30_000,
        "<article>" * 30_000 + "</nav>" * 30_000,
        "&#x0" * 60_000,
    ],
    ids=lambda html: html[:18],
)
def test_hostile_nesting_takes_linear_time(html):
    start = time.process_time()
    parse_html(URL, html)
    assert time.process_time() - start < 5


@fuzzed
@given(st.lists(st.sampled_from([*TAGS, *TAGS, "{}", "{}", "<a href=x>{}</a>"]), max_size=60))
def test_whatever_the_nesting_words_keep_their_order_and_only_regions_lose_any(parts):
    words = iter(range(len(parts)))
    html = "".join(part.format(f"w{next(words)} ") if "{}" in part else part for part in parts)
    kept = [int(word[1:]) for word in text_of(html).split()]
    assert kept == sorted(set(kept))
    if not any(part.startswith("</") and part in TAGS for part in parts):
        assert len(kept) == sum("{}" in part for part in parts)
