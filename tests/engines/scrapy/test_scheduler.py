"""The real Scrapy asks our scheduler: order, concurrency, redirects, failures, losses."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse
from tests.support.crawls import RecordedCalls, perceiver, session_of
from tests.support.local_web import Answer, LocalWeb, html, moved
from tests.support.timing import assert_spaced

from tres.crawl.events import Fetch, FetchFailed, Stepped, StopReason
from tres.engines.protocols import Fetched
from tres.engines.replay import PerceivedWeb
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept

Crawl = Callable[..., Any]


def url(i: int, sites: int = 6) -> str:
    return f"http://site{i % sites}.example/{'biology' if i % 3 == 0 else 'page'}-{i}"


def elsewhere(pages: int = 60) -> range:
    """Which pages of some web have moved, each to the next."""
    return range(5, pages, 13)


def some_web(pages: int = 60, sites: int = 6, seconds: float = 0.0) -> dict[str, Any]:
    """Pages that link to each other; some links are dead, some pages have moved."""
    web: dict[str, Any] = {}
    for i in range(pages):
        text = "biology of the cell" if i % 3 == 0 else "prices of stock"
        links = [url((i * 7 + 3 * j) % (pages + 9), sites) for j in range(6)]
        web[url(i, sites)] = Answer(html(f"Page {i}", text, links), seconds=seconds)
    for i in elsewhere(pages):
        web[url(i, sites)] = moved(url(i + 1, sites))
    return web


def kinds(spoken: RecordedCalls) -> dict[str, FailureKind]:
    outcomes = spoken.outcomes.items()
    return {url: outcome.kind for url, outcome in outcomes if isinstance(outcome, Failed)}


def answered_once(spoken: RecordedCalls) -> bool:
    """`RecordedCalls` refuses second answers; here none may be missing."""
    return Counter(spoken.asked) == Counter(spoken.received) and spoken.in_flight == 0


def test_with_one_in_flight_it_equals_the_replay(crawl: Crawl) -> None:
    with LocalWeb(some_web()) as web:
        story = crawl(web, url(0), pages=40)
        seen = PerceivedWeb(web.offline(), perceiver())
    offline = RecordedCalls(session_of([url(0)], 40))
    while isinstance(demand := offline.next(1), Fetch):
        (asked,) = demand.urls
        offline.receive(asked, seen.perceive(asked), Fetched(0.0))
    assert story.spoken.calls == offline.calls
    assert story.reason is StopReason.BUDGET
    assert len([event for event in story.events if isinstance(event, Stepped)]) == 40


def test_urls_are_requested_exactly_as_a_browser_would(crawl: Crawl) -> None:
    odd = "http://site1.example/a[1]|b;c=(d)!'*?e={f}^[g]`h|i\\j&k=%27%7B"
    moves = "http://site1.example/moves"
    pages = {
        url(0): Answer(html("Page", "biology", [odd, moves])),
        odd: Answer(html("Odd", "biology", [])),
        moves: moved(odd + "2"),
        odd + "2": Answer(html("Moved", "biology", [])),
    }
    with LocalWeb(pages) as web:
        story = crawl(web, url(0), pages=3)
    assert {odd, odd + "2"} <= set(web.urls)
    assert {event.url for event in story.events if isinstance(event, Stepped)} == {
        url(0),
        odd,
        odd + "2",
    }


def test_up_to_eight_requests_are_in_flight_and_never_more(crawl: Crawl) -> None:
    with LocalWeb(some_web(seconds=0.03)) as web:
        story = crawl(web, url(0), url(1), url(2), k=8, pages=50)
    assert story.spoken.most_in_flight == 8
    assert 4 <= web.most_at_once <= 8
    assert answered_once(story.spoken)
    assert story.spoken.session.steps == 50


def test_a_site_gets_as_many_requests_at_once_as_it_may(crawl: Crawl) -> None:
    with LocalWeb(some_web(seconds=0.02)) as web:
        crawl(web, url(0), url(1), url(2), k=8, pages=40, per_site=1)
    assert set(web.most_at_once_of.values()) == {1}
    assert web.most_at_once > 1


def test_a_site_keeps_its_delay_while_others_are_fetched(crawl: Crawl) -> None:
    with LocalWeb(some_web(30, sites=3)) as web:
        story = crawl(web, url(0, 3), url(1, 3), url(2, 3), k=3, pages=12, delay=0.6, per_site=1)
    assert story.spoken.session.steps == 12
    times: dict[str, list[float]] = {}
    for asked in web.asked:
        times.setdefault(asked.url.split("/")[2], []).append(asked.at)
    for at in times.values():
        assert_spaced(at, 0.6)
    gaps = [b - a for at in times.values() for a, b in itertools.pairwise(at)]
    assert sorted(gaps)[len(gaps) // 2] < 2.5  # Scrapy's heartbeat of 5 s does not set the pace


def test_a_redirect_waits_for_the_delay_of_the_site_it_leads_to(crawl: Crawl) -> None:
    pages: dict[str, Any] = {f"http://from{i}.example/": moved("http://to.example/" + str(i))
                             for i in range(4)}  # fmt: skip
    pages |= {f"http://to.example/{i}": html(f"{i}", f"page {i}") for i in range(4)}
    with LocalWeb(pages) as web:
        seeds = [f"http://from{i}.example/" for i in range(4)]
        story = crawl(web, *seeds, k=4, delay=0.4, per_site=1)
    at = [asked.at for asked in web.asked if "to.example" in asked.url]
    assert len(at) == 5  # robots.txt as well
    assert_spaced(at, 0.4)
    assert {o.url for o in story.spoken.outcomes.values()} == {
        f"http://to.example/{i}" for i in range(4)
    }


def test_a_hop_that_would_wait_too_long_fails(crawl: Crawl) -> None:
    busy = Answer(status=503, headers={"Retry-After": "300"})
    with LocalWeb({"http://a.example/": busy, "http://b.example/": html("b", "b")}) as web:
        story = crawl(web, "http://a.example/", "http://b.example/", timeout=20.0)
    assert kinds(story.spoken) == {"http://a.example/": FailureKind.THROTTLED}
    assert web.urls == ["http://a.example/", "http://b.example/"]


def test_failures_have_names_and_notes(crawl: Crawl) -> None:
    # a server that fails rests; on the site of the others, these two would hold them up
    apart = ["http://slow.example/slow", "http://hung.example/hung"]
    pages = {
        "http://a.example/": html("a", "a", [*apart, *(f"http://a.example/{name}" for name in (
            "missing", "broken", "loop", "twice", "picture"))]),
        "http://a.example/broken": Answer(status=500),
        "http://a.example/loop": moved("http://a.example/loop"),
        "http://slow.example/slow": Answer("late", seconds=10),
        "http://hung.example/hung": Answer(hang_up=True),
        "http://a.example/twice": [Answer(status=500), html("twice", "tried again")],
        "http://a.example/picture": Answer("...", headers={"Content-Type": "image/png"}),
    }  # fmt: skip
    with LocalWeb(pages) as web:
        story = crawl(web, "http://a.example/", k=8, timeout=2.0, retries=1, redirects=3)
    failed = kinds(story.spoken)
    named = {at.rpartition("/")[2]: kind for at, kind in failed.items()}
    assert named == {
        "missing": FailureKind.NOT_FOUND,
        "broken": FailureKind.HTTP_ERROR,
        "loop": FailureKind.REDIRECT_LOOP,
        "slow": FailureKind.TIMEOUT,
        "hung": FailureKind.NO_CONNECTION,
        "picture": FailureKind.NOT_HTML,
    }
    assert isinstance(story.spoken.outcomes["http://a.example/twice"], Percept)
    asked = Counter(web.urls)
    assert asked["http://a.example/broken"] == 2
    told = story.spoken.fetched
    assert told["http://a.example/broken"].status == 500
    assert all(told[at].note for at in failed if not at.endswith("/picture"))
    assert answered_once(story.spoken)


def test_the_session_receives_how_the_fetch_went(crawl: Crawl) -> None:
    begin = time.time()
    with LocalWeb({"http://a.example/x|y": html("The title", "text")}) as web:
        story = crawl(web, "http://a.example/x|y")
    told = story.spoken.fetched["http://a.example/x|y"]
    assert (told.status, told.title) == (200, "The title")
    assert told.size == len(html("The title", "text"))
    assert begin <= told.at <= time.time()
    assert 0 < told.seconds < 60
    assert story.spoken.outcomes["http://a.example/x|y"].url == "http://a.example/x|y"


def test_a_page_that_refreshes_to_another_is_a_redirect(crawl: Crawl) -> None:
    def refresh(to: str) -> str:
        return f'<html><meta http-equiv="refresh" content="0; url={to}"><p>moved</p></html>'

    pages = {
        "http://a.example/": refresh("http://b.example/new"),
        "http://b.example/new": html("new", "here it is"),
        "http://c.example/": refresh("http://c.example/"),
    }
    with LocalWeb(pages) as web:
        story = crawl(web, "http://a.example/", "http://c.example/")
    assert {asked: outcome.url for asked, outcome in story.spoken.outcomes.items()} == {
        "http://a.example/": "http://b.example/new",
        "http://c.example/": "http://c.example/",
    }
    assert web.urls == ["http://a.example/", "http://b.example/new", "http://c.example/"]
    assert answered_once(story.spoken)


class Fates:
    """Chances by URL and by how often it was asked about, whoever comes first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._asked: Counter[str] = Counter()

    def draw(self, url: str, sides: int) -> int:
        self._asked[url] += 1
        return random.Random(f"{self._name} {url} {self._asked[url]}").randrange(sides)


class Hostile:
    """Does at random whatever a middleware can do to a request."""

    def __init__(self, crawler: Any) -> None:
        self._scheduled, self._requests, self._responses = Fates("s"), Fates("q"), Fates("a")
        crawler.signals.connect(self.scheduled, signals.request_scheduled)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Hostile:
        return cls(crawler)

    def scheduled(self, request: Request) -> None:
        if self._scheduled.draw(request.url, 2) == 0:
            raise IgnoreRequest("no redirects here")  # and neither callback nor errback is called

    def process_request(self, request: Request) -> Any:
        if request.url.endswith("/robots.txt"):
            return None
        match self._requests.draw(request.url, 16):
            case 0:
                raise IgnoreRequest("no")
            case 1:
                raise RuntimeError("a bug")
            case 2:
                return request.replace(meta={})  # it is ours no more
            case 3:
                return request.replace(url=request.url + "?more")
            case 4:
                return HtmlResponse(request.url, body=b"made up", request=request)
            case 5:
                return "nonsense"
        return None

    def process_response(self, request: Request, response: Any) -> Any:
        if request.url.endswith("/robots.txt"):
            return response
        match self._responses.draw(request.url, 10):
            case 0:
                raise ValueError("another bug")
            case 1:
                return Request("http://elsewhere.example/")
            case 2:
                return None
        return response


class HostileToSpiders:
    """The same on the other side."""

    def __init__(self) -> None:
        self._fates = Fates("r")

    def process_spider_input(self, response: Any) -> Any:
        match self._fates.draw(response.url, 8):
            case 0:
                raise RuntimeError("a third bug")
            case 1:
                return "nonsense"
        return None


@pytest.mark.parametrize("k", [1, 6])
def test_every_url_finishes_once_whatever_middlewares_do(crawl: Crawl, k: int) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {Hostile: 543},
        "SPIDER_MIDDLEWARES": {HostileToSpiders: 543},
    }
    with LocalWeb(some_web(120)) as web:
        seeds = [url(i) for i in range(12)]
        story = crawl(web, *seeds, k=k, pages=200, settings=settings, retries=0)
    assert answered_once(story.spoken)
    assert story.reason in (StopReason.FRONTIER_EXHAUSTED, StopReason.NO_SEED)
    found = Counter(kinds(story.spoken).values())
    assert found[FailureKind.DROPPED] > 3
    assert len(found) > 2
    assert story.spoken.session.steps > 0
    assert len(story.spoken.asked) > 20


class BadReader:
    async def read(self, received: Any) -> Any:
        raise ZeroDivisionError("a bug of the reader")


def test_an_exception_in_the_reader_costs_one_page(crawl: Crawl) -> None:
    with LocalWeb({url(0): html("a", "a"), url(1): html("b", "b")}) as web:
        story = crawl(web, url(0), url(1), reader=BadReader())
    assert set(kinds(story.spoken).values()) == {FailureKind.UNREADABLE}
    assert "ZeroDivisionError" in story.spoken.fetched[url(0)].note


@pytest.mark.parametrize("word", ["next", "receive"])
def test_an_exception_in_the_session_ends_the_crawl(crawl: Crawl, word: str) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with LocalWeb(some_web()) as web, pytest.raises(OSError, match="No space"):
        crawl(web, url(0), url(1), k=2, spoil={word: full})
    assert len(web.urls) <= 3


def test_an_interrupted_crawl_finishes_what_is_in_flight(crawl: Crawl) -> None:
    with LocalWeb(some_web(seconds=0.05)) as web:
        story = crawl(web, url(0), url(1), url(2), k=4, interrupt_at_step=10)
    assert story.reason is StopReason.INTERRUPTED
    assert answered_once(story.spoken)
    assert 10 <= story.spoken.session.steps <= 13
    landed = [event for event in story.events if isinstance(event, Stepped | FetchFailed)]
    tenth = next(n for n, event in enumerate(landed) if getattr(event, "step", 0) == 10)
    assert len(story.spoken.asked) <= tenth + 1 + 3  # nothing more than was in flight
    moved_to = [url(i + 1) for i in elsewhere() if url(i) in story.spoken.asked]
    assert sorted(web.urls) == sorted([*story.spoken.asked, *moved_to])


def test_an_interrupt_is_noticed_while_all_sites_must_wait(crawl: Crawl) -> None:
    begin = time.monotonic()
    with LocalWeb(some_web(sites=1)) as web:
        story = crawl(web, url(0, 1), delay=3600.0, robots=False, interrupt_after=0.3)
    assert story.reason is StopReason.INTERRUPTED
    assert time.monotonic() - begin < 30
