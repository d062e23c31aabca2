"""The identity of pages and sites."""

from __future__ import annotations

import doctest
import time

import pytest
from ada_url import join_url
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.engines.network.addresses import AddressGuard
from tres.web import url as url_module
from tres.web.url import MAX_URL_CHARS, canonical, host_of, site_of, url_words

ANY_URL = st.one_of(
    st.text(),
    st.builds("http://{}{}".format, st.text(max_size=20), st.text(max_size=40)),
    st.builds(
        "{}://{}:{}/{}?{}#{}".format,
        st.sampled_from(["http", "HTTPS", "ftp"]),
        st.sampled_from(
            ["a.example", "A.B", "bücher.example", "[::1]", "a..b", "u@h", "0x7f.1", "xn--a", ""]
        ),
        st.sampled_from(["", "80", "443", "8080", "99999", "x"]),
        st.text("./a%~\\ é{", max_size=12),
        st.text("&=ab /.?", max_size=8),
        st.text(max_size=4),
    ),
)


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(url_module).failed == 0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://EXAMPLE.org/Path", "http://example.org/Path"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("http://example.org:/a", "http://example.org/a"),
        ("http://example.org:0080/a", "http://example.org/a"),
        ("http://example.org/a#part", "http://example.org/a"),
        ("http://example.org?q=1", "http://example.org/?q=1"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/a/..", "http://example.org/"),
        ("http://example.org/a/b/..", "http://example.org/a/"),
        ("http://example.org/.hidden", "http://example.org/.hidden"),
        ("  \n http://example.org/a \t", "http://example.org/a"),
        ("http://exam\nple.org/a\tb", "http://example.org/ab"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("http://example.org/a b", "http://example.org/a%20b"),
        ("http://example.org/é", "http://example.org/%C3%A9"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http:/example.org/a", "http://example.org/a"),
        ("http:///example.org/a", "http://example.org/a"),
        ("https:example.org", "https://example.org/"),
        ("http://example.org/a/%2e/%2E%2e/b", "http://example.org/b"),
        ("http://example.org/%2ehidden", "http://example.org/%2ehidden"),
        ("http://example.org/it's?it's", "http://example.org/it's?it%27s"),
        ("http://ex%61mple.org/", "http://example.org/"),
        ("http://my_straße.de/", "http://xn--my_strae-wya.de/"),
        ("http://straße.de/", "http://xn--strae-oqa.de/"),
        ("http://ΒΌΛΟΣ.example/", "http://xn--nxasmq6b.example/"),
        ("http://☕.example/", "http://xn--53h.example/"),
        ("http://a\u3002example\uff0eorg/", "http://a.example.org/"),
        ("http://so\u00adft.example/", "http://soft.example/"),
    ],
)
def test_spellings_that_no_server_can_tell_apart_are_one_page(url, expected):
    assert canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/?b=2&a=1",
        "http://example.org/?",
        "http://example.org/a%2fb%zz",
        "http://example.org/a//b/",
        "http://example.org/~user;v=1,(x)!'*",
        "http://example.org/?next=http://other.example/a/../b",
        "http://127.0.0.1:8080/",
        "http://localhost/",
    ],
)
def test_differences_that_a_server_can_see_stay(url):
    assert canonical(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "about:blank",
        "mailto:a@example.org",
        "javascript:void(0)",
        "ftp://example.org/",
        "http://",
        "http:///",
        "http://user:password@example.org/",
        "http://user@example.org/",
        "http://exa mple.org/",
        "http://a..b/",
        "http://example.org:99999/",
        "http://example.org:http/",
        "http://[::1/",
        "http://[nonsense]/",
        "http://example.org/\ud800",
        "relative/path",
        "//example.org/",
        "http://" + "a" * 300 + ".example/",
        "http://" + "a" * 64 + ".example/",
        "http://" + ".".join(["a" * 49] * 5 + ["abcd"]) + "/",
        "http://xn--\u200d.example/",
        "http://a\u200cb.example/",
        "http://\u0378.example/",
        "http://a!b.example/",
        "http://1.2.3.4.5/",
        "http://256.0.0.1/",
        "http://4294967296/",
        "http://0x100000000/",
        "http://name.09/",
        "http://example.org/" + "a" * MAX_URL_CHARS,
    ],
)
def test_other_urls_have_no_canonical_form(url):
    assert canonical(url) is None


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("c", "http://example.org/a/c"),
        ("./c", "http://example.org/a/c"),
        ("../c", "http://example.org/c"),
        ("/c", "http://example.org/c"),
        ("//other.example/c", "http://other.example/c"),
        ("?r=2", "http://example.org/a/b?r=2"),
        ("#top", "http://example.org/a/b?q=1"),
        ("", "http://example.org/a/b?q=1"),
        ("https://other.example", "https://other.example/"),
        ("c:d", None),
        ("./c:d", "http://example.org/a/c:d"),
        ("mailto:x@y", None),
    ],
)
def test_links_are_seen_from_the_page_that_holds_them(link, expected):
    assert canonical(link, base="http://example.org/a/b?q=1") == expected


@pytest.mark.parametrize(
    "link", ["http:c", "http:/a/c", "/a\n/c", "\t/a/\rc", "http:\n//example.org/a/c", "/a\\c"]
)
def test_links_are_mended_as_browsers_mend_them(link):
    assert canonical(link, base="http://example.org/a/b?q=1") == "http://example.org/a/c"


ONE_ADDRESS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7F000001",
    "2130706433",
    "017700000001",
    "0177.0.0.01",
    "127.0.0.1.",
    "\uff11\uff12\uff17.1",
    "%31%32%37.1",
]


@pytest.mark.parametrize("host", ONE_ADDRESS)
def test_every_spelling_of_an_address_is_one_host_and_one_site(host):
    assert canonical(f"http://{host}/a") == "http://127.0.0.1/a"
    assert canonical(f"//{host}:8080", "http://example.org/") == "http://127.0.0.1:8080/"
    assert not AddressGuard().permits(host_of(canonical(f"https://{host}/") or ""))


@pytest.mark.parametrize("prefix", ["http://", "//", "ht\ntp:\t/", " \\\\", "http:"])
def test_a_host_too_long_to_exist_costs_next_to_nothing(prefix):
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 2_300)))
    hosts = [letters[start : start + size] for size in (64, 250, 2_000) for start in range(300)]
    start = time.process_time()
    assert {canonical(f"{prefix}{host}.example/a", "https://a.example/") for host in hosts} == {
        None
    }
    assert time.process_time() - start < 0.4  # to encode these names takes more than a second


@pytest.mark.parametrize(
    ("encoding", "link", "expected"),
    [
        ("utf-8", "?q=é", "?q=%C3%A9"),
        ("cp1252", "?q=é&r=€", "?q=%E9&r=%80"),
        ("cp1251", "?q=дом", "?q=%E4%EE%EC"),
        ("cp932", "?q=日本#é", "?q=%93%FA%96{"),
        ("cp1252", "?q=日&r=%E9", "?q=%26%2326085%3B&r=%E9"),
        ("iso2022_jp", "?q=日", "?q=%1B$BF|%1B(B"),
        ("cp1252", "é?a=b", "%C3%A9?a=b"),
        ("cp1252", "/é#?é", "/%C3%A9"),
    ],
)
def test_a_query_is_written_in_the_encoding_of_its_page(encoding, link, expected):
    base = "http://example.org/"
    assert canonical(link, base, encoding) == base + expected.removeprefix("/")
    assert canonical(base + expected.removeprefix("/")) == base + expected.removeprefix("/")


@fuzzed
@given(
    ANY_URL | st.builds("?{}".format, st.text(max_size=20)),
    st.sampled_from(["cp1252", "cp932", "gb18030", "iso2022_jp", "koi8-r", "big5hkscs"]),
)
def test_in_any_encoding_a_link_is_canonical_or_none(url, encoding):
    once = canonical(url, "http://example.org/a", encoding)
    assert once is None or canonical(once, None, encoding) == once


def test_an_endless_query_in_another_encoding_costs_next_to_nothing():
    start = time.process_time()
    assert canonical("?" + "日" * 1_000_000, "http://example.org/", "cp1252") is None
    assert time.process_time() - start < 0.5


def test_a_long_fragment_does_not_make_a_url_too_long():
    assert canonical("http://example.org/#" + "a" * 5_000) == "http://example.org/"


@fuzzed
@given(ANY_URL)
@example("http://a.example/.")
@example("http://a.example/\\..\\?/.\\")
def test_canonical_never_raises_and_is_idempotent(url):
    once = canonical(url)
    assert once is None or canonical(once) == once


@fuzzed
@given(
    st.text("/.%2eE:?a'^|~-_é\\", max_size=12),
    st.sampled_from(["http://example.org/", "http://a.example:81/b/c?d", "https://1.2.3.4/e/"]),
)
def test_the_short_cuts_agree_with_the_parser(link, base):
    origin = "/".join(base.split("/")[:3]) + "/"
    try:
        parsed = join_url(base, link).partition("#")[0]
    except ValueError:
        parsed = ""
    if parsed.startswith(origin) or not parsed:
        assert canonical(link, base) == (parsed or None)
    else:  # another host, scheme or port
        assert not (canonical(link, base) or "").startswith(origin)


@fuzzed
@given(ANY_URL)
def test_no_link_can_break_out_of_its_line(url):
    once = canonical(url, base="http://example.org/a/b")
    assert once is None or (once.isascii() and once.isprintable() and " " not in once)


@fuzzed
@given(ANY_URL)
def test_every_canonical_url_has_a_site_and_words(url):
    if once := canonical(url):
        assert site_of(once)
        assert site_of(once).endswith(site_of(once, by="domain"))
        assert url_words(once) == url_words(once).lower()


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.example.org/a", "example.org", "example.org"),
        ("http://news.example.co.uk:8080/", "news.example.co.uk", "example.co.uk"),
        ("http://one.github.io/", "one.github.io", "one.github.io"),
        ("http://a.b.example/", "a.b.example", "b.example"),
        ("http://www.uk/", "www.uk", "www.uk"),
        ("http://localhost:8000/", "localhost", "localhost"),
        ("http://192.168.1.7/", "192.168.1.7", "192.168.1.7"),
        ("http://[::1]:80/", "[::1]", "[::1]"),
    ],
)
def test_a_site_is_a_host_without_www_or_a_registrable_domain(url, host, domain):
    assert site_of(url) == host
    assert site_of(url, by="domain") == domain


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://www.star-notes.co.uk/", "star notes"),
        ("http://example.org/blackHoles/XMLReader.PHP", "example black holes xml reader"),
        (
            "http://example.org/2019/07/a_b-c.html?id=12&topic=Dark+Matter",
            "example a b c id topic dark matter",
        ),
        ("http://example.org/caf%C3%A9/%ff", "example café"),
        ("http://127.0.0.1/index.htm", "index"),
        ("http://example.org/html/guide", "example html guide"),
    ],
)
def test_the_words_of_a_url(url, words):
    assert url_words(url) == words
