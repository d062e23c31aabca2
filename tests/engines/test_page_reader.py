"""From a response to a reading: what is a page, under which name, with which links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed
from tests.support.reading import ENGLISH, GERMAN, URL, html, reader, received

from tres.engines.reading.page_reader import PageReader, Reading, Received, charset_of
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.near_duplicates import fingerprint
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept
from tres.web.url import canonical


def percept(reading: Reading) -> Percept:
    assert isinstance(reading.outcome, Percept)
    return reading.outcome


def failure(reading: Reading) -> FailureKind:
    assert isinstance(reading.outcome, Failed)
    return reading.outcome.kind


def test_a_page_is_judged_and_its_links_are_described():
    reading = reader().read(received(html("Cells", ENGLISH, "<a href=/b>biology</a>")))
    page = percept(reading)
    assert (page.url, page.site, page.language) == (URL, "example.org", "en")
    assert page.links.urls == ("http://example.org/b",)
    assert page.links.anchor_keyword.tolist() == [True]
    assert reading.title == "Cells"
    assert reading.text_chars == len(f"{ENGLISH} biology")
    assert reading.fingerprint == fingerprint(f"Cells\n{ENGLISH} biology")


class TestWhatIsAPage:
    @pytest.mark.parametrize(
        ("content_type", "kind"),
        [
            ("text/html", None),
            ("Text/HTML; charset=utf-8", None),
            ("application/xhtml+xml", None),
            ("text/html, text/html", None),
            ("", None),
            ("text/plain", FailureKind.NOT_HTML),
            ("application/pdf", FailureKind.NOT_HTML),
            ("image/png; name=text/html", FailureKind.NOT_HTML),
        ],
    )
    def test_html_is(self, content_type, kind):
        outcome = reader().read(received(html("t", ENGLISH), content_type)).outcome
        assert (outcome.kind if isinstance(outcome, Failed) else None) == kind

    def test_what_says_nothing_and_does_not_look_like_html_is_not(self):
        assert failure(reader().read(received(b"just words", ""))) == FailureKind.NOT_HTML

    @pytest.mark.parametrize("body", [b"", b" \n "])
    def test_nothing_is_not(self, body):
        assert failure(reader().read(received(body))) == FailureKind.MALFORMED

    def test_binary_data_is_not(self):
        assert failure(reader().read(received(bytes(range(256)) * 9))) == FailureKind.MALFORMED

    @pytest.mark.parametrize(
        ("status", "kind"),
        [(404, FailureKind.NOT_FOUND), (410, FailureKind.NOT_FOUND), (500, FailureKind.HTTP_ERROR)],
    )
    def test_an_error_is_not_whatever_it_shows(self, status, kind):
        page = Received(URL, status, "text/html", html("t", ENGLISH))
        assert failure(reader().read(page)) == kind

    def test_a_page_that_says_it_is_not_there_is_not(self):
        page = received(html("Page not found", "Go home."))
        assert failure(reader().read(page)) == FailureKind.SOFT_NOT_FOUND

    @pytest.mark.parametrize("url", ["ftp://example.org/", "http://user@example.org/", "nonsense"])
    def test_what_has_no_address_is_not(self, url):
        page = Received(url, 200, "text/html", html("t", ENGLISH))
        assert failure(reader().read(page)) == FailureKind.BLOCKED_URL


class TestUnderWhichName:
    def test_the_final_url_is_written_in_one_way(self):
        page = Received("HTTP://Example.org:80/a/../b?utm_source=x#y", 200, "", html("t", ENGLISH))
        assert percept(reader().read(page)).url == "http://example.org/b"

    @pytest.mark.parametrize(
        ("named", "url"),
        [
            ("/main?utm_source=x", "http://example.org/main"),
            ("http://other.example/main", URL),
            ("/", URL),
        ],
    )
    def test_the_canonical_link_names_pages_of_the_same_site(self, named, url):
        page = received(html("t", ENGLISH, f"<link rel=canonical href='{named}'>"))
        assert percept(reader().read(page)).url == url


class TestLinks:
    def test_rules_keep_links_out_and_are_counted(self):
        links = (
            "<a href=/a.jpg>1</a><a href=/b.jpg>2</a><a href=/no>3</a><a href='/c?gclid=1'>4</a>"
        )
        some = reader(exclude=["/no"])
        for _ in range(2):
            reading = some.read(received(html("t", ENGLISH, links)))
            assert percept(reading).links.urls == ("http://example.org/c",)
            assert reading.dropped == {"file": 2, "exclude": 1}

    def test_a_sitemap_adds_links_that_obey_the_rules(self):
        urls = ("http://example.org/new", "http://example.org/no", "http://example.org/b")
        body = html("t", ENGLISH, "<a href=/b>biology</a>")
        page = Received(URL, 200, "text/html", body, sitemap=urls)
        links = percept(reader(exclude=["/no"]).read(page)).links
        assert links.urls == ("http://example.org/b", "http://example.org/new")
        assert links.anchor_keyword.tolist() == [True, False]

    def test_a_quick_refresh_is_reported(self):
        page = received(html("t", "Moved.", "<meta http-equiv=refresh content='0;url=/new'>"))
        assert reader().read(page).refresh == "http://example.org/new"


class TestLanguages:
    def test_pages_in_other_languages_do_not_count(self):
        some = reader(languages=["EN-us", "fr"])
        assert failure(some.read(received(html("t", GERMAN)))) == FailureKind.OTHER_LANGUAGE
        assert percept(some.read(received(html("t", ENGLISH)))).language == "en"

    def test_a_page_whose_language_cannot_be_told_counts(self):
        assert percept(reader(languages=["fr"]).read(received(html("t", "1984")))).language == ""

    def test_markup_is_believed_only_if_the_text_is_short_and_does_not_tell(self):
        def language(text: str) -> str:
            page = received(b"<html lang=it>" + html("t", text))
            return percept(reader().read(page)).language

        assert (language("1984"), language(ENGLISH), language("1984 " * 300)) == ("it", "en", "")


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=koi8-r", "koi8-r"),
        ('text/html;Charset = "UTF-8"; x=y', "UTF-8"),
        ("text/html; charset=", None),
        ("text/html", None),
    ],
)
def test_the_charset_of_the_header(content_type, charset):
    assert charset_of(content_type) == charset


def test_the_charset_reaches_the_text():
    page = received(html("Привет", ENGLISH, charset="koi8-r"), "text/html; charset=koi8-r")
    assert reader().read(page).title == "Привет"


FUZZED_READER: PageReader = reader(languages=["en"], exclude=["x"])


@fuzzed
@given(
    st.text() | st.sampled_from([URL, "http://[::1]/", "http://ü.example/#!x"]),
    st.sampled_from([200, 200, 204, 302, 404]),
    st.text()
    | st.sampled_from(["", "text/html", "text/html; charset=utf-16", "text/html; charset=utf-7"])
    | st.text().map("text/html; charset={}".format),
    st.binary() | st.text().map(str.encode) | st.binary().map(b"<html>".__add__),
)
def test_no_response_breaks_the_reader(url, status, content_type, body):
    outcome = FUZZED_READER.read(Received(url, status, content_type, body)).outcome
    if isinstance(outcome, Percept):
        assert all(canonical(each) == each for each in (outcome.url, *outcome.links.urls))


class TestKeywordStuffing:
    """A page that does little but repeat keywords earns nothing; who only uses many does."""

    @staticmethod
    def page_of(keywords: int, others: int) -> Reading:
        said = " ".join(["biology"] * keywords + [f"word{n}" for n in range(others)])
        return reader().read(received(html("Cells", said)))

    def test_a_page_of_keywords_is_refused(self):
        assert failure(self.page_of(100, 20)) == FailureKind.KEYWORD_STUFFING

    def test_a_page_with_many_keywords_is_not_stuffed(self):
        percept(self.page_of(30, 70))

    def test_a_short_page_may_consist_of_keywords(self):
        percept(self.page_of(40, 0))

    def test_the_limit_is_a_setting(self):
        said = html("Cells", "biology " * 100)
        assert percept(reader(keyword_density=1.0).read(received(said)))
        some = html("Cells", " ".join(["biology"] * 20 + [f"word{n}" for n in range(80)]))
        assert failure(reader(keyword_density=0.1).read(received(some)))

    def test_keywords_from_expansion_do_not_count(self):
        perceiver = reader()._perceiver
        named = PageReader(perceiver, LiveSection(), 2026, named=KeywordMatcher(["botany"]))
        percept(named.read(received(html("Cells", "biology " * 100))))
