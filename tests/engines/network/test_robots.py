"""Robots.txt: asked for once, within limits, and obeyed."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.network.fetching import fetch
from tests.support.http_server import Request, drip, response, serving
from tests.support.timing import assert_spaced

from tres.engines.politeness.robots_txt import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_SITEMAPS,
    MAX_TEXT,
    RobotsCache,
    RobotsRules,
    product_token,
)

FUZZED = int(os.environ.get("TRES_FUZZ", "60"))
DAY = 86400.0
KINDS = ("allowed", "denied")


def rules(text: str) -> RobotsRules:
    return RobotsRules(text.encode(), "tres")


def test_rules_for_us_come_before_rules_for_everybody():
    told = rules("User-agent: *\nDisallow: /\n\nUser-agent: Tres/2\nDisallow: /private\n")
    assert told.allows("http://a.example/page")
    assert not told.allows("http://a.example/private/page")


def test_rules_for_others_are_not_ours():
    told = rules("User-agent: tresor\nUser-agent: t\nDisallow: /\nUser agent: x\nDisallow: /y")
    assert told.allows("http://a.example/y")


def test_groups_of_user_agents_stay_groups():
    told = rules("User-agent: other\nUser-agent: tres\nUser-agent: third\nDisallow: /a\n")
    assert not told.allows("http://a.example/a")


def test_delay_and_sitemaps_are_read():
    told = rules("User-agent: *\nCrawl-delay: 2.5\nSitemap: http://A.example/s.xml\nSitemap: x:y\n")
    assert told.delay == 2.5
    assert told.sitemaps == ("http://a.example/s.xml",)


CASES = tomllib.loads(Path(__file__).with_name("robots_cases.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_what_is_allowed_is_what_the_standard_allows(case):
    told = RobotsRules(case["robots"].encode(), case["agent"])
    asked = {
        path: told.allows(f"http://example.org{path}")
        for kind in KINDS
        for path in case.get(kind, ())
    }
    assert asked == {path: kind == "allowed" for kind in KINDS for path in case.get(kind, ())}


def test_a_file_is_read_up_to_500_kib():
    rule = b"\nUser-agent: *\nDisallow: /a\n"
    assert MAX_BYTES >= 500 * 1024
    assert not RobotsRules(b"#" * (MAX_BYTES - len(rule)) + rule, "tres").allows(
        "http://a.example/a"
    )
    assert RobotsRules(b"#" * MAX_BYTES + rule, "tres").allows("http://a.example/a")


def test_a_delay_between_two_user_agents_is_for_both():
    told = rules("User-agent: tres\nCrawl-delay: 2\nUser-agent: other\nDisallow: /a\n")
    assert told.delay == 2.0
    assert not told.allows("http://a.example/a")


@pytest.mark.parametrize("delay", ["-5", "nan", "inf", "1e999", "soon", ""])
def test_a_delay_that_is_not_a_number_is_ignored(delay):
    assert rules(f"User-agent: *\nCrawl-delay: {delay}\nDisallow: /x").delay == 0.0


def test_byte_order_marks_line_ends_and_broken_text_are_tolerated():
    body = b"\xef\xbb\xbfUser-agent: *\rDisallow: /a\xff\r\n\0Disallow: /b\n"
    told = RobotsRules(body, "tres")
    assert not told.allows("http://a.example/a")
    assert not told.allows("http://a.example/b")


@pytest.mark.parametrize(
    "body",
    [
        b"".join(b"User-agent: a%d\n" % i for i in range(16_000))
        + b"".join(b"Disallow: /%d\n" % i for i in range(16_000)),
        b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*a*a$\n" * 16_000,
        b"User-agent: *\nDisallow: /" + b"*a" * 240_000,
        bytes(range(256)) * 40_000,
        b"Sitemap: http://a.example/\n" * 200_000,
    ],
    ids=["agents", "stars", "one line", "binary", "sitemaps"],
)
def test_a_hostile_robots_txt_is_not_slow(body):
    began = time.process_time()
    told = RobotsRules(body, "tres")
    told.allows("http://a.example/" + "a" * 1900)
    assert len(told.sitemaps) <= MAX_SITEMAPS
    assert time.process_time() - began < 5


LINES = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: tres",
        "useragent x",
        "Disallow: /",
        "Allow: /*$",
        "Crawl-delay:",
    ]
)
TEXTS = (
    st.lists(LINES | st.text(max_size=30), max_size=12)
    .map("\r".join)
    .map(lambda text: text.encode("utf-8", "surrogatepass"))
)


@settings(max_examples=FUZZED)
@given(st.binary(max_size=200) | TEXTS, st.text(max_size=40))
def test_nothing_in_a_robots_txt_raises(body, path):
    told = RobotsRules(body, "tres")
    assert told.allows(f"http://a.example/{path}") in (True, False)
    assert told.delay >= 0
    assert isinstance(told.sitemaps, tuple)


def test_the_product_token_is_the_name_before_the_version():
    assert product_token("tres/0.1 (+http://a.example)") == "tres"
    assert product_token("My-Bot 2") == "my-bot"
    assert product_token("42") == "tres"


def test_the_cache_is_bounded_in_number_size_and_age():
    cache, small = RobotsCache(), RobotsRules(b"", "tres")
    for index in range(MAX_ENTRIES + 10):
        cache.put(f"http://{index}.example", small, 0.0)
    assert len(cache) == MAX_ENTRIES
    assert cache.get("http://0.example", 1.0) is None
    assert cache.get(f"http://{MAX_ENTRIES}.example", DAY - 1) is small
    assert cache.get(f"http://{MAX_ENTRIES}.example", DAY) is None
    large = RobotsRules(b"User-agent: *\n" + b"Disallow: /x\n" * MAX_BYTES, "tres")
    for index in range(20):
        cache.put(f"http://large{index}.example", large, 0.0)
    kept = [index for index in range(20) if cache.get(f"http://large{index}.example", 1.0)]
    assert len(kept) == MAX_TEXT // large.size


def test_a_large_robots_txt_evicts_no_others():
    cache, small = RobotsCache(), RobotsRules(b"User-agent: *\nDisallow: /x\n", "tres")
    for index in range(13):
        cache.put(f"http://{index}.example", small, 0.0)
    for index in range(20):
        cache.put(f"http://large{index}.example", RobotsRules(b"#" * 4_900_000, "tres"), 0.0)
    assert all(cache.get(f"http://{index}.example", 1.0) is small for index in range(13))


def test_the_cache_counts_the_rules_it_keeps_not_the_file():
    assert RobotsRules(b"#" * 4_900_000, "tres").size <= MAX_BYTES


RULES = b"User-agent: *\nDisallow: /no\nSitemap: http://a.example/map.xml\n"
TEXT = {"Content_Type": "text/plain"}


def answer(asked: Request) -> bytes | Iterable[bytes]:
    if asked.path != "/robots.txt" and not asked.path.startswith("/moved"):
        return response()
    return ROBOTS[asked.address](asked)


def moving(limit: int):
    def move(asked: Request) -> bytes:
        hops = asked.path.removeprefix("/robots.txt").count("x")
        if hops == limit:
            return response(RULES, **TEXT)
        return response(b"", "301 Moved", Location="/moved" + "x" * (hops + 1))

    return move


ROBOTS = {
    "127.0.0.1": lambda _: response(RULES + b"Crawl-delay: 2\n", **TEXT),
    "127.0.0.2": lambda _: response(b"", "404 Not Found"),
    "127.0.0.3": lambda _: response(b"User-agent: *\nDisallow: /", "403 Forbidden", **TEXT),
    "127.0.0.4": lambda _: response(b"", "500 Internal Server Error"),
    "127.0.0.5": lambda _: drip(b"", 0.2),
    "127.0.0.6": lambda _: [],
    "127.0.0.7": moving(5),
    "127.0.0.8": moving(6),
    "127.0.0.9": lambda _: response(RULES + b"#" * 3_000_000, **TEXT),
    "127.0.0.10": lambda _: response(b"", "302 Found", Location="file:///etc/passwd"),
    "127.0.0.11": lambda _: response(b"User-agent: *\nCrawl-delay: 100000\n", **TEXT),
    "127.0.0.13": lambda _: response(b"User-agent: *\nCrawl-delay: 7200\n", **TEXT),
    "127.0.0.12": lambda _: response(b"", "503 Busy", Retry_After="86400"),
}


UNREACHABLE = ("127.0.0.4", "127.0.0.5", "127.0.0.6")


@pytest.fixture(scope="module")
def obeyed():
    with serving(answer, *ROBOTS, "127.0.0.99") as web:
        urls = [web.url("/yes", address) for address in ROBOTS]
        urls += [web.url("/no", address) for address in ROBOTS if address not in UNREACHABLE]
        urls += [web.url("/more"), web.url("/yes", "127.0.0.99")]
        limits = {"timeout": 3.0, "per_site": 1, "retries": 1, "delay": 0.6}
        urls.remove(web.url("/no", "127.0.0.13"))
        result = fetch(urls, allow=[f"{address}/32" for address in ROBOTS], robots=True, **limits)
        told = {url.removeprefix("http://").replace(f":{web.port}", ""): url for url in urls}
        yield {short: result["told"][url] for short, url in told.items()}, web


@pytest.mark.parametrize("number", [1, 7, 9])
def test_denied_pages_are_never_requested(obeyed, number):
    told, web = obeyed
    assert told[f"127.0.0.{number}/no"]["kind"] == "robots-denied"
    assert told[f"127.0.0.{number}/yes"]["status"] == 200
    assert "/no" not in web.paths(f"127.0.0.{number}")


@pytest.mark.parametrize("number", [2, 3, 8, 10])
def test_without_a_robots_txt_everything_is_allowed(obeyed, number):
    told, _ = obeyed
    assert told[f"127.0.0.{number}/no"]["status"] == 200


@pytest.mark.parametrize("number", [4, 5, 6])
def test_while_the_rules_are_unknown_nothing_is_requested(obeyed, number):
    told, web = obeyed
    assert told[f"127.0.0.{number}/yes"]["kind"] == "robots-unreachable"
    assert set(web.paths(f"127.0.0.{number}")) == {"/robots.txt"}
    assert len(web.paths(f"127.0.0.{number}")) >= 2  # it was tried again


def test_a_site_that_asks_for_a_delay_of_a_day_gets_no_requests(obeyed):
    told, web = obeyed
    assert told["127.0.0.11/yes"]["kind"] == "robots-denied"
    assert web.paths("127.0.0.11") == ["/robots.txt"]


def test_a_page_does_not_wait_for_hours_for_its_turn(obeyed):
    told, web = obeyed
    assert told["127.0.0.13/yes"]["kind"] == "throttled"
    assert web.paths("127.0.0.13") == ["/robots.txt"]


def test_a_site_with_a_long_retry_after_counts_as_down(obeyed):
    told, web = obeyed
    kinds = {told[f"127.0.0.12{path}"]["kind"] for path in ("/yes", "/no")}
    assert kinds == {"site-down"}
    assert web.paths("127.0.0.12") == ["/robots.txt"]


def test_robots_txt_is_guarded_as_pages_are(obeyed):
    told, web = obeyed
    assert told["127.0.0.99/yes"]["kind"] == "blocked-address"
    assert "127.0.0.99" not in web.connections


def test_robots_txt_is_fetched_once_and_its_sitemaps_are_known(obeyed):
    told, web = obeyed
    assert web.paths("127.0.0.1").count("/robots.txt") == 1
    assert told["127.0.0.1/more"]["sitemaps"] == ["http://a.example/map.xml"]


def test_delays_are_kept_from_robots_txt_on(obeyed):
    _, web = obeyed
    for address, delay in (("127.0.0.1", 2.0), ("127.0.0.2", 0.6), ("127.0.0.7", 0.6)):
        times = [asked.at for asked in web.requests if asked.address == address]
        assert len(times) >= 3
        assert_spaced(times, delay)
