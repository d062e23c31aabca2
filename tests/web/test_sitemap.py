"""Sitemaps of any kind, from anybody."""

from __future__ import annotations

import gzip
import time
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web.page import Link, Page
from tres.web.sitemap import MAX_BYTES, MAX_URLS, Sitemap, parse_sitemap, with_sitemap
from tres.web.url import canonical

URL = "http://example.org/sitemap.xml"
A, B = "http://example.org/a?x=1&y=2", "http://example.org/b"


def xml(*urls: str, root: str = "urlset", item: str = "url") -> bytes:
    listed = "".join(f"<{item}>\n<loc> {escape(url)} </loc></{item}>" for url in urls)
    return f"<?xml version='1.0'?><{root} xmlns='http://x'>{listed}</{root}>".encode()


@pytest.mark.parametrize(
    "body",
    [
        xml(A, B),
        gzip.compress(xml(A, B), mtime=0),
        f"{A}\n{B}\r\n".encode(),
        f"\ufeff{A}\n{B}".encode(),
        gzip.compress(f"{A}\n\n{B}\nnonsense".encode(), mtime=0),
        f"<urlset><url><loc><![CDATA[{A}]]></loc></url><loc>{B}</loc>".encode(),
        f"<s:urlset><s:url><s:loc>{escape(A)}</s:loc></s:url><S:LOC>{B}</S:LOC>".encode(),
        xml(A, B).decode().encode("utf-16"),
    ],
)
def test_pages_are_listed_in_every_form(body):
    assert parse_sitemap(body, URL) == Sitemap(pages=(A, B))


def test_an_index_lists_sitemaps():
    body = xml("http://example.org/1.xml", root="sitemapindex", item="sitemap")
    assert parse_sitemap(body, URL) == Sitemap(sitemaps=("http://example.org/1.xml",))


def test_a_site_lists_its_own_pages_once():
    body = xml(A, A, "http://other.example/", "mailto:x", "/relative", "http://www.example.org/c")
    assert parse_sitemap(body, URL).pages == (A, "http://www.example.org/c")


def test_their_number_is_bounded():
    body = xml(*(f"http://example.org/{number}" for number in range(MAX_URLS + 10)))
    assert len(parse_sitemap(body, URL).pages) == MAX_URLS


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x1f\x8b",
        b"\x1f\x8bnonsense",
        b"<urlset>",
        b"\0" * 1000,
        b"<html><body>Not found</body></html>",
        b'<!DOCTYPE x [<!ENTITY a "http://example.org/a">]><urlset><url><loc>&a;</loc></url>',
    ],
)
def test_a_broken_file_lists_nothing(body):
    assert parse_sitemap(body, URL) == Sitemap()


def test_a_damaged_file_lists_what_can_be_read():
    assert parse_sitemap(xml(A, B)[:-20], URL).pages == (A, B)
    assert parse_sitemap(xml(A, B)[:-30], URL).pages == (A,)


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(b"<loc>" * 4_000_000, 1, mtime=0),
        b"<loc>" + b" " * MAX_BYTES,
        b"<loc><![CDATA[" * 100_000,
    ],
    ids=["gzip", "blanks", "cdata"],
)
def test_bombs_are_harmless(body):
    start = time.process_time()
    assert parse_sitemap(body, URL) == Sitemap()
    assert time.process_time() - start < 5


def test_they_become_links_without_words_after_those_of_the_page():
    page = Page("http://example.org/", "t", "x", (Link(B, "words"),))
    assert with_sitemap(page, [A, B, A]).links == (Link(B, "words"), Link(A, ""))
    assert with_sitemap(page, [B]) is page


@fuzzed
@given(st.binary() | st.binary().map(gzip.compress) | st.text().map(lambda loc: xml(loc, A)))
def test_parsing_never_raises(body):
    found = parse_sitemap(body, URL)
    assert all(canonical(url) == url for url in (*found.pages, *found.sitemaps))
