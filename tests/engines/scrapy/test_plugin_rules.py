"""What a project's settings, spider and middlewares say holds for the pages that tres chooses.

The scheduler for other people's projects runs here on the real Scrapy in this process; only the
reading of pages is done on the spot.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider, XMLFeedSpider
from tests.support.crawls import inline_reader
from tests.support.local_web import Answer, LocalWeb, Pages, html, moved
from tests.support.scrapy_project import EXAMPLE

from tres.scrapy_plugin import tres_scheduler as plugin
from tres.settings.sections import LiveSection
from tres.store.journal import JOURNAL, Journal

from .conftest import Wait

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
TEXT = "Biology and what it says about number"
DENY_ALL = Answer("User-agent: *\nDisallow: /\n")


def chain(site: str, pages: int, *more: str) -> dict[str, Any]:
    """Pages 0, 1, 2, ... of a site, each with a link to the next and to what is named."""
    return {
        f"{site}{i}": html(f"{site} {i}", f"{TEXT} {i} {site}", [f"{site}{i + 1}", *more])
        for i in range(pages)
    }


class ReadHere:
    """Reads pages in this process, instead of in others."""

    def __init__(self, plan: object) -> None:
        self.read = inline_reader(LiveSection()).read

    async def close(self) -> None:
        pass


@dataclass
class PluginCrawl:
    """What became of a crawl that tres has crawled."""

    crawler: Crawler
    run: Path

    @property
    def spider(self) -> Any:
        return self.crawler.spider

    @property
    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.run / "summary.json").read_text()))

    @property
    def steps(self) -> set[str]:
        with (self.run / "pages.csv").open(newline="") as lines:
            return {row["url"] for row in csv.DictReader(lines)}

    @property
    def postponed(self) -> dict[str, str]:
        with Journal.open(self.run / JOURNAL) as journal:
            return {row["url"]: row["kind"] for row in journal.postponed()}

    @property
    def failures(self) -> dict[str, str]:
        with (self.run / "failures.csv").open(newline="") as lines:
            return {row["url"]: row["kind"] for row in csv.DictReader(lines)}


RunSpider = Callable[..., PluginCrawl]


@pytest.fixture
def run_spider(wait_for: Wait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSpider:
    """Crawl a web with a spider and the plug-in."""
    monkeypatch.setattr(plugin, "SwitchingReader", ReadHere)
    shutil.copytree(EXAMPLE / "examples", tmp_path / "examples")
    topic = (EXAMPLE / "topic.toml").read_text()
    topic = topic.replace("delay = 1.0", "delay = 0.0\nmax_wait = 3.0")
    topic = topic.replace("keywords", 'seeds = ["http://a.example/0"]\nkeywords')
    (tmp_path / "topic.toml").write_text(topic)

    def run(spider: type[Spider], web: LocalWeb, **settings: Any) -> PluginCrawl:
        monkeypatch.setenv("http_proxy", web.proxy)
        given = {
            "SCHEDULER": "tres.scrapy_plugin.TresScheduler",
            "TRES_TOPIC": str(tmp_path / "topic.toml"),
            "TRES_RUN": str(tmp_path / "run"),
            "ROBOTSTXT_OBEY": True,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "WARNING",
        }
        crawler = Crawler(spider, Settings({**given, **settings}))
        wait_for(crawler.crawl_async())
        return PluginCrawl(crawler, tmp_path / "run")

    return run


class Parsed(Spider):
    """A spider that notes what it is given."""

    name = "parsed"
    start_urls: ClassVar = [f"{A}0"]

    def __init__(self, **known: Any) -> None:
        super().__init__(**known)
        self.seen: list[str] = []
        self.depths: list[int] = []

    def parse(self, response: Response, **known: Any) -> Any:
        self.seen.append(response.url)
        self.depths.append(response.meta["depth"])
        yield {"url": response.url}


class OnlyA(Parsed):
    allowed_domains: ClassVar = ["a.example"]


def test_off_site_links_are_not_part_of_the_crawl(run_spider: RunSpider) -> None:
    with LocalWeb({**chain(A, 4, f"{B}0"), **chain(B, 2)}) as web:
        crawled = run_spider(OnlyA, web)
    assert {asked.url.split("/")[2] for asked in web.asked} == {"a.example"}
    assert crawled.steps == {f"{A}{i}" for i in range(4)}
    assert crawled.failures == {f"{A}4": "http-404"}
    assert crawled.summary["dropped"]["off-site"] == 4
    assert (crawled.summary["frontier"], crawled.summary["stopped"]) == (0, "frontier-exhausted")


def test_without_the_middleware_nothing_is_off_site(run_spider: RunSpider) -> None:
    off = {"scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None}
    with LocalWeb({**chain(A, 2, f"{B}0"), **chain(B, 2)}) as web:
        crawled = run_spider(OnlyA, web, DOWNLOADER_MIDDLEWARES=off)
    assert {f"{B}0", f"{B}1"} <= crawled.steps


class NoSecond(OffsiteMiddleware):
    """A project's own idea of what is off site."""

    def should_follow(self, request: Request, spider: Spider) -> bool:
        return not request.url.endswith("/2")


def test_a_project_may_subclass_the_offsite_middleware(run_spider: RunSpider) -> None:
    own = {"scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None, NoSecond: 50}
    with LocalWeb(chain(A, 4, f"{B}0", f"{A}2")) as web:
        crawled = run_spider(OnlyA, web, DOWNLOADER_MIDDLEWARES=own)
    assert f"{A}2" not in web.urls
    assert f"{B}0" in web.urls
    assert crawled.steps == {f"{A}0", f"{A}1"}


class LetsB:
    """A spider middleware that makes an exception, in one of Scrapy's two ways."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for each in result:
            if isinstance(each, Request) and each.url == f"{B}0":
                each.meta["allow_offsite"] = True
            if isinstance(each, Request) and each.url == f"{B}5":
                each.dont_filter = True
            yield each


def test_exceptions_from_off_site_are_followed(run_spider: RunSpider) -> None:
    pages = {**chain(A, 2, f"{B}0", f"{B}5", f"{B}7"), **chain(B, 9), f"{B}0": moved(f"{C}0")}
    with LocalWeb({**pages, **chain(C, 2)}) as web:
        crawled = run_spider(OnlyA, web, SPIDER_MIDDLEWARES={LetsB: 500})
    assert crawled.steps == {
        f"{A}0",
        f"{A}1",
        f"{B}5",
        f"{C}0",
    }  # where a redirect may lead as well
    assert "off-site" not in crawled.failures.values()


def test_a_redirect_off_site_is_not_followed(run_spider: RunSpider) -> None:
    pages = {**chain(A, 3), **chain(B, 2), f"{A}1": moved(f"{B}0")}
    with LocalWeb(pages) as web:
        crawled = run_spider(OnlyA, web)
    assert f"{B}0" not in web.urls
    assert crawled.failures == {f"{A}1": "off-site"}


def test_a_retried_page_may_not_be_redirected_off_site_either(
    run_spider: RunSpider,
) -> None:
    pages = {**chain(A, 3), f"{A}1": [Answer(status=503), moved(f"{B}0")]}
    with LocalWeb(pages) as web:
        crawled = run_spider(OnlyA, web, RETRY_ENABLED=True, RETRY_TIMES=1)
    assert f"{B}0" not in web.urls
    assert crawled.failures == {f"{A}1": "off-site"}


def test_a_start_url_off_site_is_fetched_if_its_robots_txt_allows_it(
    run_spider: RunSpider,
) -> None:
    class Away(Parsed):
        start_urls: ClassVar = [f"{B}0", f"{C}0"]
        allowed_domains: ClassVar = ["a.example"]

    pages = {**chain(A, 2), **chain(B, 2, f"{A}0"), **chain(C, 2), f"{C}robots.txt": DENY_ALL}
    with LocalWeb(pages) as web:
        crawled = run_spider(Away, web)
    assert crawled.steps == {f"{A}0", f"{A}1", f"{B}0"}
    assert f"{C}0" not in web.urls
    assert f"{C}robots.txt" in [asked.url for asked in web.asked]
    assert crawled.failures[f"{C}0"] == "robots-denied"


def test_domains_removed_from_allowed_domains_leave_the_crawl(
    run_spider: RunSpider,
) -> None:
    class Narrows(Parsed):
        def parse(self, response: Response, **known: Any) -> Any:
            yield from super().parse(response)
            self.allowed_domains = ["a.example"]

    many = [f"{B}{i}" for i in range(9)]
    pages = {**chain(A, 3), **chain(B, 9), f"{A}0": html("0", f"{TEXT} 0", [f"{A}1", *many])}
    with LocalWeb(pages) as web:
        crawled = run_spider(Narrows, web)
    assert [url for url in web.urls if url.startswith(B)] == []
    assert crawled.steps == {f"{A}{i}" for i in range(3)}
    assert "off-site" not in crawled.failures.values()  # nothing was chosen and then thrown away
    assert crawled.summary["frontier"] == 0


def test_domains_added_to_allowed_domains_count_from_then_on(
    run_spider: RunSpider,
) -> None:
    class Widens(OnlyA):
        def parse(self, response: Response, **known: Any) -> Any:
            yield from super().parse(response)
            self.allowed_domains = ["a.example", "b.example"]

    with LocalWeb({**chain(A, 3, f"{B}0"), **chain(B, 1)}) as web:
        crawled = run_spider(Widens, web)
    assert f"{B}0" in crawled.steps


def test_a_resumed_run_with_fewer_domains_stays_within_them(
    run_spider: RunSpider,
) -> None:
    pages = {**chain(A, 9, f"{B}0", f"{C}0"), **chain(B, 9), **chain(C, 9)}
    with LocalWeb(pages) as web:
        run_spider(Parsed, web, CLOSESPIDER_ITEMCOUNT=2)
        before = len(web.urls)
        run_spider(OnlyA, web)
    assert {url.split("/")[2] for url in web.urls[before:]} <= {"a.example"}


@pytest.mark.parametrize(
    ("robots", "kind"),
    [
        (DENY_ALL, "robots-denied"),
        (Answer(status=503), "robots-unreachable"),
        (Answer(hang_up=True), "robots-unreachable"),
        (moved(f"{C}robots.txt"), "robots-denied"),
    ],
)
def test_robots_txt_is_obeyed_and_named_in_failures(
    run_spider: RunSpider, robots: Answer, kind: str
) -> None:
    pages = {**chain(A, 2, f"{B}0"), **chain(B, 2), f"{B}robots.txt": robots}
    with LocalWeb({**pages, f"{C}robots.txt": DENY_ALL}) as web:
        crawled = run_spider(Parsed, web)
    assert f"{B}0" not in web.urls
    assert {**crawled.postponed, **crawled.failures}[f"{B}0"] == kind


def test_a_robots_txt_that_failed_is_fetched_again(run_spider: RunSpider) -> None:
    robots: list[str | Answer] = [Answer(status=500), Answer("User-agent: *\nAllow: /\n")]
    pages = {**chain(A, 2, f"{B}0", f"{B}7"), **chain(B, 9), f"{B}robots.txt": robots}
    with LocalWeb(pages) as web:
        crawled = run_spider(Parsed, web)
    assert list(crawled.postponed.values()) == ["robots-unreachable"]
    assert crawled.steps >= {f"{B}0", f"{B}7"}


def test_a_project_that_ignores_robots_txt_may(run_spider: RunSpider) -> None:
    with LocalWeb({**chain(A, 2), f"{A}robots.txt": DENY_ALL}) as web:
        crawled = run_spider(Parsed, web, ROBOTSTXT_OBEY=False)
    assert crawled.steps == {f"{A}0", f"{A}1"}


def test_depth_and_length_are_limited_as_in_any_project(run_spider: RunSpider) -> None:
    long = f"{A}{'x' * 90}"
    with LocalWeb({**chain(A, 9, long), long: html("x", TEXT)}) as web:
        crawled = run_spider(Parsed, web, DEPTH_LIMIT=3, URLLENGTH_LIMIT=80)
    assert crawled.steps == {f"{A}{i}" for i in range(4)}
    assert sorted(crawled.spider.depths) == [0, 1, 2, 3]
    assert long not in web.urls
    assert crawled.summary["dropped"]["spider-middleware"] == 4 + 1
    assert crawled.crawler.stats.get_value("request_depth_max") == 3


class NoOdd:
    """A project's own spider middleware."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for each in result:
            if not (isinstance(each, Request) and each.url.endswith("/3")):
                yield each


def test_what_a_spider_middleware_drops_is_not_followed(run_spider: RunSpider) -> None:
    with LocalWeb(chain(A, 9)) as web:
        crawled = run_spider(Parsed, web, SPIDER_MIDDLEWARES={NoOdd: 500})
    assert crawled.steps == {f"{A}{i}" for i in range(3)}
    assert crawled.failures == {}


class Breaks:
    """A spider middleware with a fault."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for each in result:
            if isinstance(each, Request):
                raise ValueError("broken")
            yield each


def test_an_exception_in_a_spider_middleware_is_logged_and_costs_links_only(
    run_spider: RunSpider,
) -> None:
    with LocalWeb(chain(A, 9)) as web:
        crawled = run_spider(Parsed, web, SPIDER_MIDDLEWARES={Breaks: 500})
    assert crawled.steps == {f"{A}0"}
    assert crawled.crawler.stats.get_value("spider_exceptions/ValueError") == 1
    assert crawled.summary["stopped"] == "frontier-exhausted"


class Starts(Parsed):
    """Asks for its seeds in its own way."""

    start_urls: ClassVar = [f"{A}{i}" for i in (0, 1, 5)]

    def __init__(self, **known: Any) -> None:
        super().__init__(**known)
        self.told: list[tuple[str, Any]] = []

    async def start(self) -> AsyncIterator[Any]:
        for number, url in enumerate(self.start_urls):
            yield Request(
                url,
                callback=self.parse_start,
                errback=self.parse_error,
                cb_kwargs={"number": number},
                headers={"X-Start": str(number)},
                meta={"own": number},
                dont_filter=True,
            )

    def parse_start(self, response: Response, number: int) -> Iterator[Any]:
        assert response.meta["own"] == number
        self.told.append((response.url, number))
        yield {"number": number}

    def parse_error(self, failure: Any) -> None:
        self.told.append((failure.request.url, failure.value.response.status))


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_start_request_for_a_seed_keeps_headers_and_callback(
    run_spider: RunSpider, at_once: int
) -> None:
    with LocalWeb(chain(A, 3)) as web:
        crawled = run_spider(Starts, web, TRES_CONCURRENCY=at_once)
    assert sorted(crawled.spider.told) == [(f"{A}0", 0), (f"{A}1", 1), (f"{A}5", 404)]
    assert crawled.spider.seen == [f"{A}2"]
    assert len(web.urls) == len(set(web.urls))
    sent = {asked.url: asked.headers.get("X-Start") for asked in web.asked}
    assert (sent[f"{A}0"], sent[f"{A}1"], sent[f"{A}2"]) == ("0", "1", None)


def test_a_late_start_request_is_answered_too(run_spider: RunSpider) -> None:
    class Late(Starts):
        """The topic file's seed, asked for when its page is there."""

        start_urls: ClassVar = []

        async def start(self) -> AsyncIterator[Any]:
            while not self.seen:
                yield {"waiting": True}
            yield Request(
                f"{A}0", callback=self.parse_start, cb_kwargs={"number": 7}, meta={"own": 7}
            )

    with LocalWeb(chain(A, 1)) as web:
        crawled = run_spider(Late, web)
    assert crawled.spider.told == [(f"{A}0", 7)]


def test_a_second_request_to_a_seed_is_the_spiders_own(run_spider: RunSpider) -> None:
    class Twice(Starts):
        start_urls: ClassVar = [f"{A}0", f"{A}0"]

    with LocalWeb(chain(A, 1)) as web:
        crawled = run_spider(Twice, web)
    assert sorted(crawled.spider.told) == [(f"{A}0", 0), (f"{A}0", 1)]


def test_a_resumed_run_does_not_fetch_its_seeds_again(run_spider: RunSpider) -> None:
    with LocalWeb(chain(A, 9)) as web:
        run_spider(Starts, web, CLOSESPIDER_ITEMCOUNT=2)
        before = len(web.urls)
        crawled = run_spider(Starts, web)
    assert not {f"{A}0", f"{A}1"} & set(web.urls[before:])
    assert crawled.summary["pages"] == 9


class Ruled(CrawlSpider):
    """Lists lead on and have no callback; items have one and lead nowhere."""

    name = "ruled"
    start_urls: ClassVar = [f"{A}0"]
    rules = (
        Rule(LinkExtractor(allow=r"example/\d$"), errback="parse_error"),
        Rule(
            LinkExtractor(restrict_css="b", allow="item"),
            callback="parse_item",
            cb_kwargs={"kind": "item"},
            process_request="mark",
        ),
    )

    def __init__(self, **known: Any) -> None:
        super().__init__(**known)
        self.items: list[tuple[str, str, str]] = []
        self.begun: list[str] = []
        self.errors: list[str] = []

    def parse_start_url(self, response: Response, **known: Any) -> Any:
        self.begun.append(response.url)
        return ()

    def mark(self, request: Request, response: Response) -> Request | None:
        request.headers["X-From"] = response.url
        return None if "unwanted" in request.url else request

    def parse_item(self, response: Response, kind: str) -> Any:
        self.items.append((response.url, kind, response.meta["link_text"]))
        return {"url": response.url}

    def parse_error(self, failure: Any) -> Iterable[Any]:
        self.errors.append(failure.request.url)
        return ()


def ruled_web() -> Pages:
    listed = '<b><a href="/item/{0}">item {0}</a> <a href="/unwanted-item">no</a></b>'
    pages: dict[str, Any] = chain(A, 3, f"{A}item/9", f"{A}other")
    for i in range(3):
        pages[f"{A}{i}"] = pages[f"{A}{i}"].replace("</body>", listed.format(i) + "</body>")
        pages[f"{A}item/{i}"] = html(f"Item {i}", f"{TEXT} item {i}", [f"{A}other"])
    return pages


def test_the_rules_of_a_crawl_spider_say_what_is_followed_and_who_is_called(
    run_spider: RunSpider,
) -> None:
    with LocalWeb(ruled_web()) as web:
        crawled = run_spider(Ruled, web)
    items = [(f"{A}item/{i}", "item", f"item {i}") for i in range(3)]
    assert sorted(crawled.spider.items) == items
    assert crawled.spider.begun == [f"{A}0"]
    assert crawled.spider.errors == [f"{A}3"]
    assert crawled.steps == {*(f"{A}{i}" for i in range(3)), *(url for url, *_ in items)}
    assert len(web.urls) == len(set(web.urls))  # the spider follows nothing beside tres
    sent = {asked.url: asked.headers.get("X-From") for asked in web.asked}
    assert sent[f"{A}item/2"] == f"{A}2"
    assert crawled.summary["dropped"]["spider-rules"] > 0


@pytest.mark.parametrize("known", [True, False])
def test_a_resumed_crawl_spider_calls_the_same_callbacks(
    run_spider: RunSpider, known: bool
) -> None:
    class ByUrl(Ruled):
        rules = (
            Rule(LinkExtractor(allow=r"example/\d$")),
            Rule(LinkExtractor(allow="item"), callback="parse_item", cb_kwargs={"kind": "item"}),
        )

    class ByPlace(Ruled):
        """Only the page that has the link can tell which rule it is for."""

        rules = (
            Rule(LinkExtractor(restrict_css="p, body > a")),
            Rule(
                LinkExtractor(restrict_css="b"), callback="parse_item", cb_kwargs={"kind": "item"}
            ),
        )

    spider = ByPlace if known else ByUrl
    pages = {url: page.replace("/unwanted-item", "/0") for url, page in ruled_web().items()}
    with LocalWeb(pages) as web:
        first = run_spider(spider, web, CLOSESPIDER_PAGECOUNT=2)
        if known:  # the process was killed while it wrote
            with (first.run / "rules.jsonl").open("a") as rules:
                rules.write('["http://a.exam')
        else:
            (first.run / "rules.jsonl").unlink()
        second = run_spider(spider, web)
    items = [*first.spider.items, *second.spider.items]
    assert len(second.spider.items) > 0
    assert {url for url, *_ in items} == {f"{A}item/{i}" for i in range(3)}


def test_a_site_that_does_not_answer_is_left_alone_and_its_links_wait(
    run_spider: RunSpider,
) -> None:
    links = [f"{B}{i}" for i in range(6)]
    down = Answer(status=500)
    with LocalWeb({f"{A}0": html("0", TEXT, links), f"{B}robots.txt": down}) as web:
        crawled = run_spider(Parsed, web)
    assert crawled.failures == {}
    assert set(crawled.postponed.values()) == {"robots-unreachable"}
    assert crawled.summary["stopped"] == "sites-down"
    asked = [asked.url for asked in web.asked]
    assert set(asked) - {f"{A}0", f"{A}robots.txt"} == {f"{B}robots.txt"}
    assert asked.count(f"{B}robots.txt") == 3  # after one second, and two more


def test_the_spiders_request_for_a_link_survives_an_outage_of_its_site(
    run_spider: RunSpider,
) -> None:
    class Items(Ruled):
        rules = (
            Rule(LinkExtractor(allow="item"), callback="parse_item", cb_kwargs={"kind": "item"}),
        )

    busy = Answer(status=503)
    web = {f"{A}0": html("0", TEXT, [f"{B}item/1"]), f"{B}item/1": [busy, html("1", TEXT)]}
    with LocalWeb(web) as served:
        crawled = run_spider(Items, served)
    assert {url for url, *_ in crawled.spider.items} == {f"{B}item/1"}


def test_pages_go_to_the_rules_of_a_sitemap_spider(run_spider: RunSpider) -> None:
    class Mapped(SitemapSpider):
        name = "mapped"
        sitemap_urls = (f"{A}sitemap.xml",)
        sitemap_rules = ((r"/1$", "parse_one"), ("", "parse_any"))

        def __init__(self, **known: Any) -> None:
            super().__init__(**known)
            self.called: list[tuple[str, str]] = []

        def parse_one(self, response: Response) -> None:
            self.called.append(("one", response.url))

        def parse_any(self, response: Response) -> None:
            self.called.append(("any", response.url))

    listed = f"<urlset><url><loc>{B}5</loc></url></urlset>"
    xml = Answer(listed, headers={"Content-Type": "text/xml"})
    with LocalWeb({**chain(A, 3), f"{B}5": html("5", TEXT), f"{A}sitemap.xml": xml}) as web:
        crawled = run_spider(Mapped, web)
    assert sorted(crawled.spider.called) == [
        ("any", f"{A}0"), ("any", f"{A}2"), ("any", f"{B}5"), ("one", f"{A}1"),
    ]  # fmt: skip
    assert f"{B}5" not in crawled.steps


def test_a_feed_goes_to_its_spider_though_it_is_not_a_page(
    run_spider: RunSpider,
) -> None:
    class Feed(XMLFeedSpider):
        name = "feed"
        start_urls: ClassVar = [f"{A}feed.xml"]
        itertag = "item"

        def parse_node(self, response: Response, selector: Any) -> Any:
            return Request(selector.xpath("link/text()").get(), callback=self.parse_page)

        def parse_page(self, response: Response) -> Any:
            self.crawler.stats.inc_value("own_pages")

    feed = f"<rss><item><link>{A}0</link></item><item><link>{A}1</link></item></rss>"
    xml = Answer(feed, headers={"Content-Type": "text/xml"})
    with LocalWeb({**chain(A, 2), f"{A}feed.xml": xml}) as web:
        crawled = run_spider(Feed, web)
    assert crawled.crawler.stats.get_value("own_pages") == 2
    assert crawled.failures == {f"{A}feed.xml": "not-html"}


def test_a_spider_gets_the_statuses_that_it_handles(run_spider: RunSpider) -> None:
    class Handles(Parsed):
        handle_httpstatus_list: ClassVar = [404]

    with LocalWeb(chain(A, 2)) as web:
        crawled = run_spider(Handles, web)
    assert crawled.spider.seen == [f"{A}0", f"{A}1", f"{A}2"]
    assert crawled.failures == {f"{A}2": "http-404"}
    assert crawled.summary["pages"] == 2


def test_a_request_retried_in_a_callback_is_the_spiders_own(
    run_spider: RunSpider,
) -> None:
    class Again(Parsed):
        def parse(self, response: Response, **known: Any) -> Any:
            yield from super().parse(response)
            if self.seen.count(response.url) == 1:
                assert response.request is not None
                yield response.request.replace(dont_filter=True)
                yield Request(f"{B}0", meta=response.meta)  # as people do

    with LocalWeb({**chain(A, 1), **chain(B, 1)}) as web:
        crawled = run_spider(Again, web)
    assert sorted(crawled.spider.seen) == [f"{A}0", f"{A}0", f"{B}0", f"{B}0"]
    assert crawled.summary["pages"] == 1


def test_a_request_retried_in_an_errback_is_the_spiders_own(
    run_spider: RunSpider,
) -> None:
    class Insists(Starts):
        start_urls: ClassVar = [f"{A}0", f"{A}1", f"{C}0"]

        def parse_error(self, failure: Any) -> Any:
            request = failure.request
            if hasattr(failure.value, "response"):
                request = failure.value.response.request
            meta = {**request.meta, "dont_obey_robotstxt": True}
            return request.replace(dont_filter=True, errback=None, meta=meta)

    pages = {**chain(A, 1), **chain(C, 1), f"{C}robots.txt": DENY_ALL}
    with LocalWeb({**pages, f"{A}1": [Answer(status=404), html("1", TEXT)]}) as web:
        crawled = run_spider(Insists, web)
    assert sorted(crawled.spider.told) == [(f"{A}0", 0), (f"{A}1", 1), (f"{C}0", 2)]
    assert crawled.summary["pages"] == 1


def test_a_run_with_its_budget_spent_says_how_to_continue(
    run_spider: RunSpider,
) -> None:
    with LocalWeb(chain(A, 4)) as web:
        run_spider(Parsed, web, TRES_PAGES=2)
        with pytest.raises(RuntimeError) as ended:
            run_spider(Parsed, web, TRES_PAGES=2)
    cause = ended.value.__context__
    assert "has fetched 2 of 2 pages" in str(cause)
    assert "TRES_PAGES" in cause.__notes__[0]


def test_the_scheduler_has_a_length(run_spider: RunSpider) -> None:
    class Measures(Parsed):
        def parse(self, response: Response, **known: Any) -> Any:
            scheduler = self.crawler.engine.scheduler
            self.crawler.stats.max_value("longest", len(scheduler))  # type: ignore[arg-type]
            return super().parse(response)

    with LocalWeb(chain(A, 2, *(f"{A}page/{i}" for i in range(5)))) as web:
        crawled = run_spider(Measures, web)
    assert crawled.crawler.stats.get_value("longest") == 6
    assert len(crawled.crawler.engine.downloader.slots) >= 0


def test_the_projects_delay_and_concurrency_limit_the_choice(
    run_spider: RunSpider,
) -> None:
    links = [f"{A}page/{i}" for i in range(6)]
    slow = {url: Answer(html(url, f"{TEXT} {url}"), seconds=0.05) for url in links}
    with LocalWeb({f"{A}0": html("0", TEXT, links), **slow}) as web:
        run_spider(Parsed, web, TRES_CONCURRENCY=6, CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert web.most_at_once == 1


def test_a_job_directory_keeps_the_spiders_own_requests(
    run_spider: RunSpider, tmp_path: Path
) -> None:
    class Own(Parsed):
        def parse(self, response: Response, **known: Any) -> Any:
            yield from super().parse(response)
            if response.url == f"{A}0":
                yield from (Request(f"{B}{i}", callback=self.parse) for i in range(4))

    with LocalWeb({**chain(A, 2), **chain(B, 4)}) as web:
        run_spider(Own, web, JOBDIR=str(tmp_path / "job"), CLOSESPIDER_ITEMCOUNT=1)
        run_spider(Own, web, JOBDIR=str(tmp_path / "job"))
    assert {f"{A}1", *(f"{B}{i}" for i in range(4))} <= set(web.urls)
    assert len(web.urls) == len(set(web.urls))


@pytest.mark.parametrize(
    "limit", [{"CLOSESPIDER_PAGECOUNT": 4}, {"CLOSESPIDER_ITEMCOUNT": 3}, {"TRES_PAGES": 3}]
)
def test_a_crawl_may_be_limited_and_resumed(run_spider: RunSpider, limit: dict[str, int]) -> None:
    with LocalWeb(chain(A, 9)) as web:
        crawled = run_spider(Parsed, web, **limit)
        assert 2 <= crawled.summary["pages"] <= 4
        crawled = run_spider(Parsed, web, TRES_PAGES=50)
    assert crawled.summary["pages"] == 9
    assert len(web.urls) == len(set(web.urls))


def test_signals_may_keep_the_spider_open_and_give_it_more(
    run_spider: RunSpider,
) -> None:
    class Fed(Parsed):
        @classmethod
        def from_crawler(cls, crawler: Crawler, *args: Any, **known: Any) -> Fed:
            spider = super().from_crawler(crawler, *args, **known)
            crawler.signals.connect(spider.feed, signals.spider_idle)
            return spider

        def feed(self) -> None:
            if f"{B}0" not in self.seen:
                self.crawler.engine.crawl(Request(f"{B}0", callback=self.parse))

    with LocalWeb({**chain(A, 1), **chain(B, 1)}) as web:
        crawled = run_spider(Fed, web)
    assert crawled.spider.seen == [f"{A}0", f"{B}0"]
