"""Throws broken input at everything that reads what strangers have written.

    python benchmarks/fuzz.py [--inputs 100000] [--seed 1] [--only html,urls]

Five kinds of input start from sound samples and are damaged: bytes change, pieces go, come
again or come from elsewhere, and words that parsers know turn up where nobody expects them. The
answer may be whatever it likes, as a value or as the one error that a reader promises, but an
exception that nobody has named is a finding; so is an input that takes longer than `SECONDS`,
and an answer that breaks what the reader promises. A finding is shown with the number of its
input: the same seed and number make it again.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table
from scrapy.http import Response

from tres.engines.reading import PageReader, Received, charset_of
from tres.engines.robots import RobotsRules, product_token
from tres.engines.scrapy.capture import may_be_page, response_head
from tres.engines.scrapy.courtesy import seconds_to_wait
from tres.engines.scrapy.failures import BlockedRedirect
from tres.engines.scrapy.limits import redirect_target
from tres.engines.wire import checked_reading, reading_message
from tres.sections import LiveSection
from tres.store.records import READERS, Begin, DamagedError, Demanded, Seeds, decode, encode
from tres.store.records import Received as ReceivedEntry
from tres.topic.keywords import KeywordMatcher
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Perceiver, Percept
from tres.web.rules import LinkRules
from tres.web.sitemap import parse_sitemap
from tres.web.url import canonical, host_of, site_of, url_words

SECONDS = 5.0
"""For one input, on a busy machine; the most patient reader of the crawl has twice as many."""
MOST_BYTES = 20_000
YEAR = 2026
HERE = "http://example.org/a/b?c=1"
SHOWN = 3
"""Findings of one kind that are shown."""


class Judge:
    """A model that is quick: relevance is not what is looked at here."""

    digest = "fuzz"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return np.array([len(text) % 2 for text in texts], np.float32)


PAGES = PageReader(Perceiver(Judge(), KeywordMatcher(["garden"])), LiveSection(), YEAR)  # type: ignore[arg-type]
RULES = LinkRules(LiveSection(), YEAR)


def read_html(data: bytes) -> None:
    """A page becomes a reading, and survives the way between two processes."""
    content_type = ("text/html", "text/html; charset=utf-16", "")[len(data) % 3]
    reading = PAGES.read(Received(HERE, 200, content_type, data))
    checked_reading(reading_message(reading))


def read_url(data: bytes) -> None:
    """A canonical URL is canonical; whatever looks at it copes with it."""
    url = canonical(data.decode("utf-8", "surrogateescape"), HERE)
    if url is None:
        return
    assert canonical(url) == url, "not canonical twice"
    assert all((host_of(url), site_of(url), site_of(url, "domain"))), "no host"
    RULES.objection(RULES.identity(url) or url)
    url_words(url)


def read_robots(data: bytes) -> None:
    """Rules can always be asked; sitemaps are read by the same people."""
    rules = RobotsRules(data, product_token(data[:40].decode("latin-1")))
    rules.allows(HERE)
    assert 0 <= rules.delay < float("inf"), "no delay"
    assert all(canonical(url) == url for url in rules.sitemaps), "not canonical"
    parse_sitemap(data, HERE)


def read_headers(data: bytes) -> None:
    """The headers that decide something, all with the same value."""
    names = ("Content-Type", "Location", "Retry-After", data[:9].decode("latin-1"))
    response = Response(HERE, headers=dict.fromkeys(names, data), status=100 + len(data) % 900)
    may_be_page(response)
    assert response_head(response).count(b"\r\n\r\n") == 1, "more than one end"
    charset_of(data.decode("latin-1"))
    wait = seconds_to_wait(response.headers.get("Retry-After"), 1e9)
    assert wait is None or 0 <= wait < float("inf"), "no time to wait"
    with suppress(BlockedRedirect):
        redirect_target(HERE, response)


def read_record(data: bytes) -> None:
    """A record is an entry, or is damaged; an entry can be written again."""
    kinds = list(READERS)
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
WORDS = (
    *(b"<", b">", b"</a>", b"<a href=", b"<!--", b"<![CDATA[", b"&#", b"\0", b"\x1b[2J"),
    *(b"://", b"@", b"[::1]", b"%00", b"%", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae"),
    *(b"User-agent:", b"Disallow:", b"Crawl-delay: 1e999", b"*$", b"charset=", b"\r\n\r\n"),
    *(b"nan", b"-1", b"9" * 99, b"../" * 9),
)


@dataclass(frozen=True)
class Target:
    """A reader and sound samples of what it reads."""

    name: str
    read: Callable[[bytes], None]
    samples: tuple[bytes, ...]
    unpack: bool = False
    """Records are compressed: half of them are damaged inside, too."""


TARGETS = (
    Target("html", read_html, HTML),
    Target("urls", read_url, URLS),
    Target("robots.txt", read_robots, ROBOTS),
    Target("headers", read_headers, HEADERS),
    Target("journal records", read_record, RECORDS, unpack=True),
)


def damaged(sample: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """The sample after one to eight accidents."""
    data = bytearray(sample)
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 2, 8, 64)))
        match rng.randrange(6):
            case 0:
                data[start:end] = rng.randbytes(end - start)
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = bytes(data[start:end]) * rng.choice((1, 2, 30, 300))
            case 3:
                other = rng.choice(others)
                data[start:end] = other[rng.randrange(len(other)) :]
            case 4:
                data[start:start] = rng.choice(WORDS)
            case _:
                del data[start if rng.random() < 0.2 else len(data) :]
    return bytes(data[:MOST_BYTES])


def inputs(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Damaged samples, the same for the same seed."""
    rng = Random(f"{seed} {target.name}")
    for _ in range(count):
        sample = rng.choice(target.samples)
        if target.unpack and rng.random() < 0.5:
            yield zlib.compress(damaged(zlib.decompress(sample), target.samples, rng), 1)
        else:
            yield damaged(sample, target.samples, rng)


@dataclass
class Outcome:
    """What came of all inputs of one kind."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: list[str] = field(default_factory=list)

    def note(self, data: bytes, problem: Exception) -> None:
        """Write a finding down."""
        said = f"{type(problem).__name__}: {problem}"[:200]
        self.findings.append(f"{self.name} {self.inputs}: {said!a}: {data[:500]!r}")


def fuzz(target: Target, count: int, seed: int = 1) -> Outcome:
    """Read `count` damaged samples."""
    outcome = Outcome(target.name)
    for data in inputs(target, count, seed):
        began = time.perf_counter()
        try:
            with limited(SECONDS):
                target.read(data)
        except Exception as problem:  # each is a finding: that is what we are here for
            outcome.note(data, problem)
        spent = time.perf_counter() - began
        outcome.inputs += 1
        outcome.seconds += spent
        outcome.slowest = max(outcome.slowest, spent)
    return outcome


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """`TimeoutError` in the middle of whatever takes longer in pure Python."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def show(outcomes: Sequence[Outcome]) -> None:
    """The table, and the first findings of each kind."""
    table = Table("input", "inputs", "uncaught", "seconds", "slowest, ms", title="fuzzing")
    for each in outcomes:
        slowest = f"{each.slowest * 1000:.0f}"
        found = str(len(each.findings))
        table.add_row(each.name, f"{each.inputs:,}", found, f"{each.seconds:.0f}", slowest)
    Console().print(table)
    for line in (line for each in outcomes for line in each.findings[:SHOWN]):
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds, with commas between them")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    chosen = [target for target in TARGETS if not only or target.name in only]
    outcomes = [fuzz(target, options.inputs, options.seed) for target in chosen]
    show(outcomes)
    sys.exit(any(outcome.findings for outcome in outcomes))


if __name__ == "__main__":
    main()
