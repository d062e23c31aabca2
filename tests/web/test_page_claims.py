"""What a page claims about itself, and how far it is believed."""

from __future__ import annotations

import pytest

from tres.web.page_claims import page_identity
from tres.web.parse import Document, parse_document

URL = "http://www.example.org/a/b?x=1"


def read(html: str) -> Document:
    document = parse_document(URL, html)
    assert isinstance(document, Document)
    return document


class TestCanonicalLink:
    def test_it_is_seen_from_the_base(self):
        html = '<base href="/z/"><link rel="alternate canonical" href="c">'
        assert read(html).head.canonical == "http://www.example.org/z/c"

    def test_the_page_keeps_the_url_it_was_found_at(self):
        assert read("<link rel=canonical href=/c>").page.url == URL

    @pytest.mark.parametrize("html", ["<link rel=next href=/c>", "<!-- <link rel=canonical> -->"])
    def test_other_links_are_none(self, html):
        assert read(html).head.canonical is None

    @pytest.mark.parametrize(
        ("named", "identity"),
        [
            ("http://www.example.org/a/b", "http://www.example.org/a/b"),
            ("https://example.org/a", "https://example.org/a"),
            ("http://other.example/a/b", URL),
            ("http://www.example.org/", URL),
            ("http://www.example.org/index.html", URL),
            (None, URL),
        ],
    )
    def test_it_counts_within_the_site_unless_it_names_the_front_page(self, named, identity):
        assert page_identity(named, URL) == identity

    def test_the_front_page_may_name_itself(self):
        front = "http://example.org/"
        assert page_identity(front, "http://example.org/index.php") == front

    def test_a_site_is_a_host_or_a_domain(self):
        elsewhere = "http://news.example.org/a"
        assert page_identity(elsewhere, URL) == URL
        assert page_identity(elsewhere, URL, "domain") == elsewhere


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/next", "http://www.example.org/next"),
        ("0; url=/it's.html", "http://www.example.org/it's.html"),
        ("0; url='/its.html' or so", "http://www.example.org/its.html"),
        ("0;url=/a&quot;b", "http://www.example.org/a%22b"),
        ("0;'/next", "http://www.example.org/next"),
        ("0; /a\n/b", "http://www.example.org/a/b"),
        ("0;URL='next'", "http://www.example.org/a/next"),
        ("5, http://other.example/", "http://other.example/"),
        ("6; url=/next", None),
        ("3", None),
        ("0; url=", None),
        ("soon; url=/next", None),
        ("0; url=javascript:alert(1)", None),
    ],
)
def test_a_quick_refresh_is_a_hint_to_another_page(content, target):
    assert read(f'<meta http-equiv=Refresh content="{content}">').head.refresh == target


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>t</title><meta property=og:title content=o><h1>h</h1>", "t"),
        ("<title> </title><meta property=og:title content='o  p'><h1>h</h1>", "o p"),
        ("<header><h1>h <b>i</b></h1></header><h1>j</h1>", "h i"),
        ("<h1>never closed", ""),
        ("<p>none", ""),
    ],
)
def test_a_page_without_a_title_has_another(html, title):
    assert read(html).page.title == title


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de"),
        ('<!doctype html><HTML class="a" LANG="FR">', "fr"),
        ("<html><p lang=it>", ""),
        ("", ""),
    ],
)
def test_the_language_of_the_markup_is_noted(html, language):
    assert read(html).language == language
