"""From HTML to a page: lenient like a browser, bounded unlike one."""

from __future__ import annotations

import doctest
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web import flat_html as markup
from tres.web.page import Failed, FailureKind, Link, Page
from tres.web.parse import (
    MAX_ANCHOR_CHARS,
    MAX_LINKS,
    MAX_TEXT_CHARS,
    Document,
    parse_document,
    parse_html,
)
from tres.web.url import canonical

URL = "http://example.org/a/b"
SNIPPETS = [
    *(
        "<p>",
        "</p>",
        "<b>",
        "</i>",
        "<a href='x'>",
        '<a href="',
        "</a>",
        "<table>",
        "<td>",
        "</tr>",
    ),
    *(
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<svg>",
        "</svg>",
        "<title>",
        "</title>",
        "<base href=/>",
        "<nav>",
        "<iframe src=x>",
        "</iframe>",
        "<textarea>",
        "</textarea>",
        "</nav>",
        "<header>",
        "</main>",
        "<link rel=canonical href=/c>",
        "<meta http-equiv=refresh content='0;url=x'>",
    ),
    *(
        "<![CDATA[",
        "<template>",
        "&amp;",
        "&#0;",
        "&#xD800;",
        "<",
        ">",
        "'",
        '"',
        "word",
        "<img alt=y>",
    ),
]


def page(html: str | bytes, **options: str) -> Page:
    outcome = parse_html(URL, html, **options)
    assert isinstance(outcome, Page)
    return outcome


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(markup).failed == 0


def test_a_page_is_its_title_its_text_and_its_links():
    html = """
    <html><head><title> Black
      holes </title></head>
    <body><h1>What they are</h1><p>See <a href="/stars">the stars</a>.</p></body>
    """
    assert page(html) == Page(
        URL,
        title="Black holes",
        text="What they are\nSee the stars.",
        links=(Link("http://example.org/stars", "the stars"),),
    )


class TestTitle:
    @pytest.mark.parametrize(
        ("html", "title"),
        [
            ("<title>A <b>x</b></title>", "A <b>x</b>"),
            ("<TITLE lang='>'>a &lt;p> b</title >c", "a <p> b"),
            ("<title>a<!-- b --></title>", "a<!-- b -->"),
            ("<title>a </b></titles> c</title>", "a </b></titles> c"),
            ("<!-- <title>no</title> --><title>yes</title>", "yes"),
            ("<script>'<title>'</script><title>yes</title>", "yes"),
            ("<title>never <i>closed", "never <i>closed"),
        ],
    )
    def test_it_is_text_whatever_it_looks_like(self, html, title):
        assert page(html).title == title


class TestText:
    def test_a_field_in_code_or_a_comment_opens_nothing(self):
        html = "<!-- <textarea> --><script>'<iframe>'</script><p>text <a href=x>link</a>"
        assert page(html).text == "text link"
        assert len(page(html).links) == 1

    def test_blocks_are_lines_and_words_never_glue(self):
        html = "<ul><li>one<li>two</ul><table><tr><td>a<td>b</table>x<br>y<div>z</div>end"
        assert page(html).text == "one\ntwo\na\nb\nx\ny\nz\nend"

    def test_inline_markup_does_not_cut_words(self):
        assert page("H<sub>2</sub>O and <b>b</b>old <a href=x>l</a>ink").text == "H2O and bold link"

    def test_white_space_is_folded(self):
        assert page("<p> a \t\n b&nbsp;\u3000c </p>\n\n<p></p><p>d").text == "a b c\nd"

    @pytest.mark.parametrize("tag", ["script", "style", "noscript", "template", "svg", "title"])
    def test_invisible_text_is_not_read(self, tag):
        assert page(f"<p>seen</p><{tag}>hidden</{tag}><p>too</p>").text == "seen\ntoo"

    def test_comments_are_not_read_even_if_a_tag_touches_their_end(self):
        assert page("a<!-- <ul><li>x</ul--> b <!--<p>--> c").text == "a b c"

    def test_entities_are_characters(self):
        assert page("<title>&eacute;</title>a &lt;b&gt; &amp; c").text == "a <b> & c"

    def test_markup_in_attributes_stays_there(self):
        assert page('<p title="a > b <td> c">text').text == "text"

    def test_plain_text_is_a_page_too(self):
        assert page("no markup, 1 < 2").text == "no markup, 1 < 2"

    def test_it_is_bounded(self):
        assert len(page("word " * MAX_TEXT_CHARS).text) == MAX_TEXT_CHARS


class TestLinks:
    def test_all_are_kept_in_page_order(self):
        html = "<a href=x rel=nofollow>1</a><map><area href=y alt=2></map><a href=x>3</a>"
        assert [(link.url[-1], link.anchor) for link in page(html).links] == [
            ("x", "1"),
            ("y", "2"),
            ("x", "3"),
        ]

    @pytest.mark.parametrize(
        "html",
        [
            "<a href='a\nb\r\n/c\td'>",
            "<a\nhref=ab/cd>",
            "<a href='\n ab/cd\n'>",
            "<a href='ab&#10;/cd'>",
            "<area href='\tab/cd'>",
        ],
    )
    def test_line_feeds_in_an_address_are_dropped_as_browsers_drop_them(self, html):
        assert [link.url for link in page(html).links] == ["http://example.org/a/ab/cd"]

    def test_blanks_in_an_address_stay(self):
        assert page("<a href='a b\n'>x").links[0].url == "http://example.org/a/a%20b"

    def test_frames_are_followed_in_their_place(self):
        html = (
            "<a href=1>a</a><iframe src=2 title='a map'>old <a href=no>browsers</a></iframe>"
            "<a href=3>b</a><frameset><frame src=4><FRAME name=x SRC=5></frameset>"
            "<iframe></iframe><iframe src=about:blank></iframe><noscript><iframe src=n></noscript>"
        )
        assert [(link.url[-1], link.anchor) for link in page(html).links] == [
            ("1", "a"),
            ("2", "a map"),
            ("3", "b"),
            ("4", ""),
            ("5", ""),
        ]
        assert "browsers" not in page(html).text

    def test_a_form_field_contains_no_links(self):
        html = "<textarea name='>'>&lt;<a href=no>x</a></b></textarea><a href=yes>y</a>"
        assert [link.url for link in page(html).links] == ["http://example.org/a/yes"]
        assert page(html).text == "y"

    def test_queries_are_written_in_the_encoding_of_the_page(self):
        html = "<a href='/дом?q=дом'>x</a><link rel=canonical href='?q=дом'>"
        found = parse_document(URL, html.encode("cp1251"), "windows-1251")
        assert isinstance(found, Document)
        path = "%D0%B4%D0%BE%D0%BC"
        assert found.page.links[0].url == f"http://example.org/{path}?q=%E4%EE%EC"
        assert found.head.canonical == "http://example.org/a/b?q=%E4%EE%EC"
        assert page(html.encode()).links[0].url == f"http://example.org/{path}?q={path}"

    def test_they_are_seen_from_the_base(self):
        html = '<base href="http://other.example/z/"><a href="x">x</a>'
        assert page(html).links == (Link("http://other.example/z/x", "x"),)

    @pytest.mark.parametrize("base", ["", "mailto:x", "::", "#"])
    def test_a_broken_base_is_no_base(self, base):
        html = f'<base href="{base}"><a href="x">x</a>'
        assert page(html).links == (Link("http://example.org/a/x", "x"),)

    def test_links_that_are_not_web_addresses_are_dropped(self):
        assert page("<a href='mailto:x'>m</a><a href='javascript:x()'>j</a><a name=t>").links == ()

    @pytest.mark.parametrize(
        ("html", "anchor"),
        [
            ("<a href=x> two <b>words</b>\n</a>", "two words"),
            ("<a href=x><p>a</p><p>b</p></a>", "a b"),
            ("<a href=x title=tip><img alt='a picture'></a>", "a picture"),
            ("<a href=x title=tip><img alt=' '></a>", "tip"),
            ("<a href=x title=tip></a>", "tip"),
            ("<a href=x></a>", ""),
            ("<a href=x><script>s</script></a>", ""),
        ],
    )
    def test_the_anchor_is_the_visible_text(self, html, anchor):
        assert page(html).links[0].anchor == anchor

    def test_an_anchor_that_is_never_closed_is_bounded(self):
        assert len(page("<a href=x>" + "word " * 1000).links[0].anchor) == MAX_ANCHOR_CHARS

    def test_their_number_is_bounded(self):
        assert len(page("<a href=x>x</a>" * (MAX_LINKS + 10)).links) == MAX_LINKS


def test_the_charset_of_the_header_reaches_the_text():
    assert page("<p>Привет".encode("koi8-r"), charset="koi8-r").text == "Привет"


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "\0" * 100])
def test_binary_data_labelled_as_html_is_malformed(body):
    assert parse_html(URL, body) == Failed(URL, FailureKind.MALFORMED)


def test_an_empty_body_is_an_empty_page():
    assert page(b"") == Page(URL, "", "")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 200_000,
        "<div><p></b>" * 50_000,
        "".join(f"<p><font size={size}>" for size in range(30_000)),
        "<a href=x><table>" * 50_000,
        "<x-->" * 200_000,
        "<svg>" * 200_000,
        "<a" * 500_000,
        "<!--" * 200_000,
        '<a b="x' * 100_000,
        "<" * 500_000,
        "</" * 500_000,
        "<p " + "/" * 500_000,
        "<iframe " * 100_000,
        "<title><b>" * 100_000,
        "<a title='<textarea>'>" * 10 + "<div>" * 200_000,
        "<a title='<!--'><a title='<script>'>" + "<div>" * 200_000,
        "<script><!--" * 100_000,
    ],
    ids=lambda html: html[:12],
)
def test_no_markup_takes_more_than_linear_time(html):
    start = time.process_time()
    parse_html(URL, html)
    assert time.process_time() - start < 3


@pytest.mark.parametrize("start", ["<p ", "<!-- --><p ", "</p ", "<script>a<b</script><p "])
def test_a_tag_with_endless_attributes_is_malformed(start):
    html = start + " ".join(f"a{number}" for number in range(100_000))
    assert parse_html(URL, html) == Failed(URL, FailureKind.MALFORMED)


def test_code_that_looks_like_a_tag_is_not_taken_for_one():
    code = "if (a<b && " + "x y z " * 2_000
    assert page(f"<script>{code}</script><!-- <p {code} --><p>text").text == "text"


@fuzzed
@given(st.binary(max_size=2_000) | st.lists(st.sampled_from(SNIPPETS)).map("".join) | st.text())
def test_parsing_never_raises_and_keeps_its_promises(body):
    outcome = parse_html(URL, body)
    if isinstance(outcome, Page):
        assert outcome.content.encode()
        assert all(canonical(link.url) == link.url for link in outcome.links)
        assert "\n\n" not in outcome.text
