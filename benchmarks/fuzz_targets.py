"""What `benchmarks/fuzz.py` tests: the readers of strangers' input, with valid samples for each.

A target returns if all is well. It raises an unexpected exception, or `AssertionError` if an answer
breaks the reader's promises.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.fuzz_wire import Wire
from scrapy.http import Response

from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.politeness.robots_txt import RobotsRules, product_token
from tres.engines.reading.page_reader import PageReader, Received, charset_of
from tres.engines.reading.tasks import ReadPage, ReadSitemap, perform
from tres.engines.scrapy.capture import may_be_page, response_head
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.redirects_and_retries import redirect_target
from tres.errors import ConfigError
from tres.settings.sections import LiveSection
from tres.settings.topic_file import load_topic, new_topic
from tres.store.journal_records import TEXTS, Begin, DamagedError, Demanded, Seeds, decode, encode
from tres.store.journal_records import Received as ReceivedEntry
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.link_rules import LinkRules
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Perceiver, Percept
from tres.web.url import canonical, host_of, site_of, url_words

YEAR = 2026
HERE = "http://example.org/a/b?c=1"


class Judge:
    """A fast model: relevance is not tested here."""

    digest = "fuzz"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return np.array([len(text) % 2 for text in texts], np.float32)


PAGES = PageReader(Perceiver(Judge(), KeywordMatcher(["garden"])), LiveSection(), YEAR)  # type: ignore[arg-type]
RULES = LinkRules(LiveSection(), YEAR)
WIRE = Wire(HERE, PAGES)
SCRATCH = TemporaryDirectory(prefix="tres-fuzz-")
TOPIC_FILE = Path(SCRATCH.name) / "topic.toml"


def read_html(data: bytes) -> None:
    """A page becomes a reading, and survives the transfer between two processes."""
    content_type = ("text/html", "text/html; charset=utf-16", "")[len(data) % 3]
    task = ReadPage(Received(HERE, 200, content_type, data))
    task.decode(perform(PAGES, task.message()))


def read_url(data: bytes) -> None:
    """A canonical URL stays canonical, and every reader of URLs accepts it."""
    url = canonical(data.decode("utf-8", "surrogateescape"), HERE)
    if url is None:
        return
    assert canonical(url) == url, "not canonical twice"
    assert all((host_of(url), site_of(url), site_of(url, "domain"))), "no host"
    RULES.objection(RULES.identity(url) or url)
    url_words(url)


def read_robots(data: bytes) -> None:
    """Rules always answer."""
    rules = RobotsRules(data, product_token(data[:40].decode("latin-1")))
    rules.allows(HERE)
    assert 0 <= rules.delay < float("inf"), "no delay"
    assert all(canonical(url) == url for url in rules.sitemaps), "not canonical"


def read_sitemap(data: bytes) -> None:
    """A sitemap lists only pages of its own site."""
    task = ReadSitemap(HERE, data, (), "host")
    found = task.decode(perform(PAGES, task.message()))
    assert all(site_of(url) == "example.org" for url in (*found.pages, *found.sitemaps)), "away"


def read_topic(data: bytes) -> None:
    """A topic file is refused, or gives a topic that can be written and used."""
    TOPIC_FILE.write_bytes(data)
    try:
        topic = load_topic(TOPIC_FILE)
    except ConfigError:
        return
    TOPIC_FILE.write_text(topic.to_toml(), encoding="utf-8")
    assert load_topic(TOPIC_FILE) == topic, "not the same when read again"
    KeywordMatcher(topic.topic.keywords, topic.topic.phrases).in_url(HERE)
    LinkRules(topic.live, YEAR).objection(HERE)


def read_headers(data: bytes) -> None:
    """The headers that decide something, all with the same value."""
    names = ("Content-Type", "Location", "Retry-After", data[:9].decode("latin-1"))
    response = Response(HERE, headers=dict.fromkeys(names, data), status=100 + len(data) % 900)
    may_be_page(response)
    assert response_head(response).count(b"\r\n\r\n") == 1, "more than one end"
    charset_of(data.decode("latin-1"))
    wait = parse_retry_after(response.headers.get("Retry-After"), 1e9)
    assert wait is None or 0 <= wait < float("inf"), "no time to wait"
    with suppress(NamedFailure):
        redirect_target(HERE, response)


def read_record(data: bytes) -> None:
    """A record is an entry, or is damaged; an entry can be written again."""
    kinds = list(TEXTS)
    with suppress(DamagedError):
        encode(decode(kinds[len(data) % len(kinds)], data))
    for kind in kinds:
        with suppress(DamagedError):
            encode(decode(kind, data))


def _links() -> LinkPercepts:
    urls = ("http://example.org/", "http://example.net/?q=\u00e9")
    flags = np.array([True, False])
    return LinkPercepts(
        urls, tuple(map(site_of, urls)), flags, ~flags, np.ones(2, np.float32), ("one", "two")
    )


HTML = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8><title>A garden &amp; more</title>"
    b"<base href='/x/'><link rel=canonical href=/c><meta http-equiv=refresh content='0;url=/r'>"
    b"</head><body><nav><a href='?a=1#f'>next</a></nav><p>Words in a garden.<a href=http://b.example"
    b"><img src=x alt=y></a><script>if (a < b) {}</script><style>p {}</style><!-- no --></body>",
    "<title>Gärten</title><table><tr><td><a href='/ä ö'>grün</a><svg><a href=z>".encode("utf-16"),
    b"\xef\xbb\xbf<p>Page not found<template><noscript><textarea><select><option>&#x10ffff;&#0;",
)
URLS = (
    b"http://www.Example.org:80/a/../b;c=1?d=%7Efg&utm_source=x#top",
    b"https://user:pass@[2001:db8::1]:8443/%41%zz/?jsessionid=1",
    "http://bücher.example/straße?ü=ß".encode(),
    b"//xn--bcher-kva.example/calendar/2099/12/?page=1&page=2",
)
ROBOTS = (
    b"User-agent: *\nDisallow: /private/\nAllow: /private/$\nCrawl-delay: 2.5\n"
    b"Request-rate: 1/10\nVisit-time: 0600-0845\nSitemap: http://example.org/s.xml\n",
    b"\xef\xbb\xbfuser-agent: tres\r\ndisallow: /*?*=*$\r\nallow: /%7e\r\nuser-agent: other\r\n",
)
SITEMAPS = (
    b"http://example.org/1\nhttp://example.org/2?a=1\n",
    b"<urlset><url><loc>http://example.org/&amp;1</loc></url><sitemapindex>"
    b"<loc><![CDATA[http://example.org/2]]></loc>",
)
HEADERS = (
    b'text/html; charset="utf-8"; q=1',
    b"Wed, 21 Oct 2026 07:28:00 GMT",
    b"120",
    b"//example.net:8080/away?from=%E4#here",
)
RECORDS = tuple(
    encode(entry)[1]
    for entry in (
        Seeds(_links()),
        Begin(100, "digest"),
        Demanded(2, (0, 3), _links().urls),
        ReceivedEntry(HERE, Failed(HERE, FailureKind.TIMEOUT, True)),
        ReceivedEntry(HERE, Percept(HERE, "example.org", 0.5, _links(), "en")),
    )
)
BODY = HTML[0]
RESPONSES = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY,
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"10\r\n<title>A garden<\r\n8;x=y\r\n/title>\n\r\n0\r\nTrailer: no\r\n\r\n",
    b"HTTP/1.0 200\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip, deflate\r\n"
    b"\r\n" + zlib.compress(gzip.compress(BODY, mtime=0)),
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /away\r\n"
    b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 503 Unavailable\r\nRetry-After: 120\r\nSet-Cookie: a=b\r\n folded\r\n\r\nlater",
)
TOPICS = (
    new_topic(["bee", "honey"], ["http://bees.example/"]).to_toml().encode(),
    b"""name = "bees"
[topic]
keywords = ["bee", 'honey', "hi\\u0076e"]
phrases = ["honey bee"]
seeds = ["http://bees.example/"]
[training]
model = "auto"
[crawl]
pages = 2_000
max_per_site = "5..2"
preset = "paper"
[live]
exclude = ["/tag/", '\\?page=\\d+']
allow = ["10.0.0.0/8"]
languages = ["en"]
[agent]
hidden = [30, 15]
gamma = 3e-1
""",
)
WORDS = (
    *(b"<", b">", b"</a>", b"<a href=", b"<!--", b"<![CDATA[", b"&#", b"\0", b"\x1b[2J"),
    *(b"://", b"@", b"[::1]", b"%00", b"%", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae"),
    *(b"User-agent:", b"Disallow:", b"Crawl-delay: 1e999", b"*$", b"charset=", b"\r\n\r\n"),
    *(b"nan", b"-1", b"9" * 99, b"../" * 9, b"[[", b"a." * 99, b"'''", b"= 1e99", b"chunked"),
    *(b"\r\n0\r\n", b"Content-Length:", b"HTTP/1.1 200", b"ffffffffffffffff\r\n"),
)


@dataclass(frozen=True)
class Target:
    """A reader and valid samples of its input."""

    name: str
    read: Callable[[bytes], None]
    samples: tuple[bytes, ...]
    share: int = 1
    """Share of the inputs, in percent."""
    unpack: bool = False
    """Records are compressed: half of them are damaged inside, too."""


TARGETS = (
    Target("responses", WIRE.read, RESPONSES, 20),
    Target("html", read_html, HTML, 15),
    Target("urls", read_url, URLS, 25),
    Target("robots.txt", read_robots, ROBOTS, 8),
    Target("sitemaps", read_sitemap, SITEMAPS, 8),
    Target("headers", read_headers, HEADERS, 8),
    Target("journal records", read_record, RECORDS, 10, unpack=True),
    Target("topic files", read_topic, TOPICS, 6),
)
