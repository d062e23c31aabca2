"""Robots.txt as the server sees it: nothing forbidden is asked for, and delays are kept.

`benchmarks/robots.py` does the same with thousands of pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from time import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from benchmarks.robots import ROBOTS, is_forbidden
from tests.support.local_web import Answer, LocalWeb, html
from tests.support.timing import assert_spaced

Crawl = Callable[..., Any]
HOSTS, PAGES, DELAY = 8, 14, 0.4


def place(number: int) -> str:
    host, page = number % HOSTS, number // HOSTS
    path = f"/{2007 + page % 5}/word-{number % 9}.html" if page else "/"
    return f"http://site{host}.example{path}"


def text(body: str, **more: Any) -> Answer:
    return Answer(body, headers={"Content-Type": "text/plain"}, **more)


@pytest.fixture
def web() -> LocalWeb:
    """Sites that forbid half of their pages, one whose rules fail and one whose never come."""
    whole: dict[str, Any] = {
        f"http://site{host}.example/robots.txt": text(ROBOTS.format(delay=DELAY))
        for host in range(HOSTS)
    }
    whole["http://broken.example/robots.txt"] = text("", status=503)
    whole["http://silent.example/robots.txt"] = text("", seconds=30)
    others = ["http://broken.example/", "http://silent.example/"]
    for number in range(HOSTS * PAGES):
        links = [place((number * 5 + step) % (HOSTS * PAGES)) for step in range(1, 9)]
        whole[place(number)] = html(f"Page {number}", f"biology {number}", [*links, *others])
    return LocalWeb(whole)


def test_forbidden_pages_are_never_requested_and_delays_are_kept(
    crawl: Crawl, web: LocalWeb
) -> None:
    options: dict[str, Any] = {"timeout": 2.0, "retries": 1, "near_duplicates": False}
    with web:
        told = crawl(web, place(0), k=12, per_site=2, **options)
    asked = [urlsplit(each.url) for each in web.asked]
    assert [each.path for each in asked if is_forbidden(each.path)] == []
    assert sum(kind == "robots-denied" for kind in failures(told).values()) > PAGES
    assert len(told.spoken.outcomes) > HOSTS * 4
    for host, times in arrivals(web).items():
        if host.startswith("site"):
            assert_spaced(times, DELAY)


def test_a_site_with_unknown_rules_gets_no_requests(crawl: Crawl, web: LocalWeb) -> None:
    hosts = ("broken.example", "silent.example")
    with web:
        told = crawl(web, *(f"http://{host}/" for host in hosts), k=2, timeout=1.0, retries=1)
    assert set(failures(told).values()) == {"robots-unreachable"}
    assert {urlsplit(each.url).path for each in web.asked} == {"/robots.txt"}
    for times in arrivals(web).values():
        assert len(times) >= 2  # each was tried again, later
        assert all(later - earlier >= 1 for earlier, later in pairwise(times))


def failures(told: Any) -> dict[str, str]:
    outcomes = told.spoken.outcomes
    return {url: str(failed.kind) for url, failed in outcomes.items() if hasattr(failed, "kind")}


def arrivals(web: LocalWeb) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for each in web.asked:
        times[urlsplit(each.url).netloc].append(each.at)
    return times


def test_a_page_put_off_by_a_long_delay_waits_for_one_delay_not_two(
    crawl: Crawl,
) -> None:
    slow = "http://slow.example/"
    rules = text("User-agent: *\nCrawl-delay: 1000\n")
    with LocalWeb({f"{slow}robots.txt": rules, slow: html("Slow", "biology", [])}) as web:
        told = crawl(web, slow)
    assert len(web.asked) == 1
    site, until = told.spoken.fetched[slow].backs_off_until
    assert site == "slow.example"
    assert until - time() < 1500
