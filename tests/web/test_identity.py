"""One page has one identity, whoever clicks and wherever the click came from."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web import identity as identity_module
from tres.web.identity import Identity
from tres.web.url import canonical

SITE = "http://example.org"
ID = "8f3c1d2e4b5a69788f3c1d2e4b5a6978"
PIECES = st.sampled_from(
    [*"/;?&=().", "..", "utm_source=x", "utm%5Fsource", "sid=", ID, "(S(a))", ";jsessionid=1"]
)


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(identity_module).failed == 0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/a?utm_source=x&id=1&UTM_medium=y", "/a?id=1"),
        ("/a?gclid=1&fbclid=2", "/a"),
        ("/a?utm%5Fsource=x", "/a"),
        ("/a?", "/a"),
        ("/a?PHPSESSID=123", "/a"),
        ("/a;jsessionid=123.node1?x=1", "/a?x=1"),
        ("/a;v=2;JSESSIONID=123/b", "/a;v=2/b"),
        ("/(S(abc123))/a", "/a"),
        ("/(A(x)S(y)F(z))/", "/"),
        ("/(S(a));jsessionid=1/b", "/b"),
        (f"/a?sid={ID}&x=1", "/a?x=1"),
        (f"/..;jsessionid={ID}/a", "/a"),
    ],
)
def test_tracking_parameters_and_session_ids_are_dropped(url, expected):
    assert Identity()(SITE + url) == SITE + expected


@pytest.mark.parametrize(
    "url",
    [
        "/a?b=2&a=1",
        "/a?sid=sports",
        "/a?s=black+holes",
        "/a?sid=12345678901234567890",
        "/a?session=spring",
        "/a;v=2/b",
        "/Mercury_(planet)",
        "/a?a&&b=",
        "/a?key=8f3c1d2e4b5a69788f3c1d2e4b5a6978",
    ],
)
def test_parameters_that_may_name_the_page_stay(url):
    assert Identity()(SITE + url) == SITE + url


def test_users_can_add_names():
    assert Identity(["View"])(f"{SITE}/a?view=print&x=1") == f"{SITE}/a?x=1"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("faß.example", "xn--fa-hia.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("日本語。jp", "xn--wgv71a119e.jp"),
        ("i❤.example", "xn--i-7iq.example"),
        ("bücher.example.", "xn--bcher-kva.example"),
    ],
)
def test_hosts_are_written_as_browsers_write_them(host, expected):
    assert canonical(f"http://{host}/") == f"http://{expected}/"


@fuzzed
@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=60))
def test_it_is_idempotent_and_never_raises(rest):
    url = canonical(f"{SITE}/{rest}")
    once = Identity(["x"])(url) if url else None
    if once:
        assert canonical(once) == once
        assert Identity(["x"])(once) == once
        assert len(once) <= len(url)
