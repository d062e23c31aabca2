"""Which links a project's spider may follow, by the rules of its own project.

tres extracts the links of a page itself. Before the session receives them, each becomes the Request
that the spider would have yielded, and goes the way of such a request:

* a `CrawlSpider` makes the requests itself: its rules extract the links, `process_links` and
  `process_request` may change or drop them, and a page of a rule with `follow=False` has none;
* the project's spider middlewares process the requests as output for the page, so `DEPTH_LIMIT`,
  `URLLENGTH_LIMIT` and the project's own middlewares hold;
* OffsiteMiddleware, or the project's subclass of it, checks them against `allowed_domains`, with
  its own exceptions (`allow_offsite`, `dont_filter`).

A link whose request does not pass is not part of the crawl: the policy does not see it and cannot
choose it. `dropped` counts such links.
"""

from __future__ import annotations

import re
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
from scrapy.utils.asyncgen import as_async_generator
from twisted.python.failure import Failure

from tres.engines.scrapy.internals import (
    default_callback,
    requests_to_follow,
    stop_following,
    through_spider_middlewares,
)
from tres.scrapy_plugin.pending_requests import PendingRequests
from tres.web.identity import Identity
from tres.web.percept import Percept
from tres.web.url import canonical

LINK = "tres_link"
"""The key of a request's meta that holds the link it was made for."""


class LinkFilter:
    """Knows which links one spider may follow, and the requests it would make for them."""

    def __init__(self, crawler: Crawler, spider: Spider, identity: Identity, run: Path) -> None:
        self.dropped: Counter[str] = Counter()
        self._crawler = crawler
        self._spider = spider
        self._identity = identity
        self._pending = PendingRequests(spider, run)
        self._domains: list[str] = []
        self._follows = True
        if isinstance(spider, CrawlSpider):
            self._follows = stop_following(spider)  # its links go to the frontier instead

    async def filter_links(self, percept: Percept, response: Response) -> Percept:
        """Return the percept without the links that the spider may not follow from this page."""
        requests = list(self._requests(percept.links.urls, response))
        passed = [request async for request in self._passing(requests, response)]
        permitted = [request for request in passed if self.permits(request)]
        self._count(len(percept.links), len(requests), len(passed), len(permitted))
        kept = {request.meta.pop(LINK): request for request in permitted}
        self._pending.add(kept.items())
        keep = np.array([url in kept for url in percept.links.urls], np.bool_)
        return percept if keep.all() else percept.with_links(keep)

    def permits(self, request: Request) -> bool:
        """Does the project's OffsiteMiddleware, if it has one, let a request pass?"""
        offsite = self._crawler.get_downloader_middleware(OffsiteMiddleware)
        try:
            if offsite is not None:
                offsite.process_request(request)
        except IgnoreRequest:
            return False
        return True

    def request(self, url: str) -> Request:
        """Return the spider's request for a link that was chosen."""
        return self._pending.take(url)

    def put_back(self, url: str, request: Request) -> None:
        """Keep the request of a chosen link that goes back to the frontier."""
        self._pending.put_back(url, request)

    def callback_for(self, url: str) -> Callable[..., Any]:
        """Return the callback of a request that names none: a sitemap rule's, or `parse`."""
        if isinstance(self._spider, SitemapSpider):
            for pattern, callback in self._spider.sitemap_rules:
                if re.search(pattern, url):
                    return (
                        getattr(self._spider, callback) if isinstance(callback, str) else callback
                    )
        return default_callback(self._spider)

    def newly_offsite(self, sites: Iterable[str]) -> list[str]:
        """Return those of the sites that `allowed_domains` excludes since it was changed.

        A subclass of OffsiteMiddleware is not asked: its answer may depend on the page.
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
        """Yield requests for the links: a CrawlSpider's own, or plain ones."""
        if not isinstance(self._spider, CrawlSpider):
            for url in urls:
                yield Request(url, meta={LINK: url})
            return
        found = set(urls)
        for request in self._rule_requests(response):
            link = self._identity(canonical(request.url) or "")
            if link in found:
                found.remove(link)
                request.meta[LINK] = link
                yield request

    def _rule_requests(self, response: Response) -> Iterator[Request]:
        """Yield the requests that the rules of a CrawlSpider make for a page."""
        assert isinstance(self._spider, CrawlSpider)
        rule = response.meta.get("rule")
        if not self._follows or (rule is not None and not self._spider.rules[rule].follow):
            return
        try:
            yield from requests_to_follow(self._spider, response)
        except Exception:
            self._log_error(response)

    async def _passing(self, requests: list[Request], response: Response) -> AsyncIterator[Request]:
        """Yield the requests that the spider middlewares let pass, without those that they add."""
        output = as_async_generator(requests)
        try:
            async for request in through_spider_middlewares(self._crawler, response, output):
                if isinstance(request, Request) and LINK in request.meta:
                    yield request
        except Exception:
            self._log_error(response)

    def _log_error(self, response: Response) -> None:
        """Report an error in the spider's output as Scrapy does; requests before it count."""
        assert response.request is not None
        failure = Failure()  # type: ignore[no-untyped-call]
        scraper = self._crawler.engine.scraper
        scraper.handle_spider_error(failure, response.request, response)

    def _count(self, found: int, asked: int, passed: int, permitted: int) -> None:
        self.dropped["spider-rules"] += found - asked
        self.dropped["spider-middleware"] += asked - passed
        self.dropped["off-site"] += passed - permitted
