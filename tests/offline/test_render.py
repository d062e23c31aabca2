"""A page rendered as HTML reads back as the same page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tres.offline import GeneratedWeb
from tres.offline.render import normalise_page, render_page
from tres.topic.text import words
from tres.web.page import Failed, Link, Page
from tres.web.parse import (
    MAX_ANCHOR_CHARS,
    MAX_LINKS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    parse_html,
)
from tres.web.url import canonical

URL = "http://a.example/"


def page(title: str = "", text: str = "", *links: tuple[str, str]) -> Page:
    return Page(URL, title, text, tuple(Link(*link) for link in links))


def read_back(original: Page) -> Page | Failed:
    """What a crawler reads that gets the page over HTTP."""
    body = render_page(original).encode()
    return replace(
        parse_html(original.url, body, "utf-8"),
        **({"labels": original.labels} if original.labels else {}),
    )


C1 = "".join(map(chr, range(0x80, 0xA0)))
MARKUP = st.sampled_from(
    ["<p>", "</nav>", "<!--", "-->", "<script>", "</title>", "&amp;", "&lt", "&#0;", "&nbsp", "]]>"]
)
ANY = st.lists(MARKUP | st.text(st.characters(exclude_characters=C1)), max_size=6).map("".join)
URLS = (
    ANY.map(lambda rest: canonical(f"http://b.example/{rest}"))
    .filter(bool)
    .filter(lambda url: url is not None)
)


@given(ANY, ANY, st.lists(st.tuples(URLS, ANY), max_size=5))
@example("\ud800", "\udfff\0\x01\x1b[31m", [(URL, "\0")])
def test_any_page_survives_html(title, text, links):
    original = page(title, text, *links)
    assert read_back(original) == normalise_page(original)


@given(ANY, ANY, st.lists(st.tuples(URLS, ANY), max_size=5))
def test_a_page_parsed_from_html_survives_unchanged(title, text, links):
    once = normalise_page(page(title, text, *links))
    assert normalise_page(once) == once


@given(ANY)
def test_the_words_of_a_text_are_those_of_the_archive(text):
    sound = text.encode("utf-8", "replace").decode()
    assert words(normalise_page(page(text=text)).text) == words(sound)


def test_links_keep_their_order_their_anchors_and_their_duplicates():
    links = [
        ("http://b.example/?a=1&copy=2&amp;lt", "one"),
        ("http://b.example/it's", ""),
        (URL, "<b>itself</b>"),
        ("http://b.example/?a=1&copy=2&amp;lt", "one"),
        ("http://b.example/?a=1&copy=2&amp;lt", "another"),
    ]
    original = page("t", "x", *links)
    assert read_back(original) == original


def test_the_words_of_menus_are_not_text_of_the_page():
    original = page("t", "only this\nand this", ("http://b.example/", "anchor"))
    assert read_back(original).text == "only this\nand this"


@pytest.mark.parametrize("control", [*map(chr, [*range(1, 9), *range(0x0E, 0x1C), 0x7F, 0xFFFD])])
def test_a_text_of_controls_alone_is_no_binary_data(control):
    original = page(control * 300, f"a{control}b", ("http://b.example/", control))
    assert read_back(original) == original


@pytest.mark.parametrize("control", sorted(set(C1) - {"\x85"}))
def test_controls_without_a_reference_survive_among_words(control):
    original = page(f"it{control}s", f"text with{control} some of them")
    assert read_back(original) == original


def test_the_limits_are_those_of_the_reader():
    original = page(
        "t" * (MAX_TITLE_CHARS + 9),
        "x" * (MAX_TEXT_CHARS + 9),
        *[("http://b.example/", "a" * (MAX_ANCHOR_CHARS + 9))] * (MAX_LINKS + 9),
    )
    seen = read_back(original)
    assert seen == normalise_page(original)
    assert (len(seen.title), len(seen.text)) == (MAX_TITLE_CHARS, MAX_TEXT_CHARS)
    assert (len(seen.links), len(seen.links[0].anchor)) == (MAX_LINKS, MAX_ANCHOR_CHARS)


def test_generated_pages_come_back_unchanged():
    web = GeneratedWeb(300, seed=4)
    assert [read_back(original) for original in web.pages()] == list(web.pages())
