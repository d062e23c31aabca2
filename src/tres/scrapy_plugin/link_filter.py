"""Which links somebody's spider may follow, by the rules of its own project.

tres finds the links of a page itself. Before the crawl hears of them, each becomes the Request
that the spider would have yielded, and goes the way of such a request:

* a `CrawlSpider` makes the requests itself: its rules extract the links, `process_links` and
  `process_request` may change or drop them, and a page of a rule with `follow=False` has none;
* the project's spider middlewares see the requests as output for the page; so `DEPTH_LIMIT`,
  `URLLENGTH_LIMIT` and whatever the project has added hold;
* OffsiteMiddleware, or the project's subclass of it, holds them against `allowed_domains`, with its
  own exceptions (`allow_offsite`, `dont_filter`).

A link whose request does not come out is no part of the crawl: no learner sees it, and it cannot be
chosen. `dropped` counts such links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spiders import CrawlSpider, SitemapSpider
from twisted.python.failure import Failure

from tres.scrapy_plugin.pending_requests import PendingRequests
from tres.web.identity import Identity
from tres.web.percept import Percept
from tres.web.url import canonical

LINK = "tres_link"
"""The key of a request's meta that holds the link for which it was made."""


class LinkFilter:
    """Knows what one spider may follow, and how it would ask for it."""

    def __init__(self, crawler: Crawler, spider: Spider, identity: Identity, run: Path) -> None:
        self.dropped: Counter[str] = Counter()
        self._crawler = crawler
        self._spider = spider
        self._identity = identity
        self._kept = PendingRequests(spider, run)
        self._domains: list[str] = []
        self._follows = True
        if isinstance(spider, CrawlSpider):
            # What it would follow is offered to the crawl, so it must not be asked for as well.
            self._follows, spider._follow_links = spider._follow_links, False

    async def admitted(self, percept: Percept, response: Response) -> Percept:
        """The percept without the links that the spider may not follow from this response."""
        requests = list(self._requests(percept.links.urls, response))
        passed = [request async for request in self._passed(requests, response)]
        permitted = [request for request in passed if self.permits(request)]
        self._count(len(percept.links), len(requests), len(passed), len(permitted))
        kept = {request.meta.pop(LINK): request for request in permitted}
        self._kept.keep(kept.items())
        keep = np.array([url in kept for url in percept.links.urls], np.bool_)
        return percept if keep.all() else percept.with_links(keep)

    def permits(self, request: Request) -> bool:
        """Does OffsiteMiddleware, if there is one, let a request pass?"""
        offsite = self._crawler.get_downloader_middleware(OffsiteMiddleware)
        try:
            if offsite is not None:
                offsite.process_request(request)
        except IgnoreRequest:
            return False
        return True

    def request(self, url: str) -> Request:
        """How the spider asks for a link that was chosen."""
        return self._kept.take(url)

    def keep_again(self, url: str, request: Request) -> None:
        """A link that was chosen goes back to wait."""
        self._kept.put_back(url, request)

    def callback(self, url: str) -> Callable[..., Any]:
        """Who is given a page for which nobody was named: a rule of a SitemapSpider, or `parse`."""
        if isinstance(self._spider, SitemapSpider):
            for pattern, callback in self._spider._cbs:
                if pattern.search(url):
                    return callback
        return self._spider._parse

    def newly_forbidden(self, sites: Iterable[str]) -> list[str]:
        """Of these sites, those that `allowed_domains` rules out since it was changed.

        A project with another idea of what is off site is not asked: it may depend on the page.
        """
        domains = list(getattr(self._spider, "allowed_domains", None) or ())
        if domains == self._domains:
            return []
        self._domains = domains
        offsite = self._crawler.get_downloader_middleware(OffsiteMiddleware)
        if not domains or type(offsite) is not OffsiteMiddleware:
            return []
        return [site for site in sites if not self._has_permitted(site, offsite)]

    def _has_permitted(self, site: str, offsite: OffsiteMiddleware) -> bool:
        hosts = (Request(f"http://{host}/") for host in (site, f"www.{site}"))
        return any(offsite.should_follow(host, self._spider) for host in hosts) or any(
            domain.endswith(f".{site}") for domain in self._domains if domain
        )

    def _requests(self, urls: tuple[str, ...], response: Response) -> Iterator[Request]:
        """The links as requests: a CrawlSpider's own, or plain ones."""
        if not isinstance(self._spider, CrawlSpider):
            for url in urls:
                yield Request(url, meta={LINK: url})
            return
        found = set(urls)
        for request in self._extracted(response):
            link = self._identity(canonical(request.url) or "")
            if link in found:
                found.remove(link)
                request.meta[LINK] = link
                yield request

    def _extracted(self, response: Response) -> Iterator[Request]:
        """What the rules of a CrawlSpider follow from a page."""
        assert isinstance(self._spider, CrawlSpider)
        rule = response.meta.get("rule")
        if not self._follows or (rule is not None and not self._spider._rules[rule].follow):
            return
        try:
            yield from filter(None, self._spider._requests_to_follow(response))
        except Exception:
            self._tell_error(response)

    async def _passed(self, requests: list[Request], response: Response) -> AsyncIterator[Request]:
        """What the spider middlewares let through; what they add comes with the spider's output."""
        middlewares = self._crawler.engine.scraper.spidermw
        try:
            async for request in middlewares._process_spider_output(response, _each(requests)):
                if isinstance(request, Request) and LINK in request.meta:
                    yield request
        except Exception:
            self._tell_error(response)

    def _tell_error(self, response: Response) -> None:
        """As Scrapy tells what goes wrong with a spider's output; what came before counts."""
        assert response.request is not None
        failure = Failure()  # type: ignore[no-untyped-call]
        scraper = self._crawler.engine.scraper
        scraper.handle_spider_error(failure, response.request, response)

    def _count(self, found: int, asked: int, passed: int, permitted: int) -> None:
        self.dropped["spider-rules"] += found - asked
        self.dropped["spider-middleware"] += asked - passed
        self.dropped["off-site"] += passed - permitted


async def _each(requests: list[Request]) -> AsyncIterator[Any]:
    for request in requests:
        yield request
