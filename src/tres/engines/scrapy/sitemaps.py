"""Sitemaps as a further source of links, where the topic file asks for them.

The first page that a crawl reads on a site gets the URLs of the site's sitemaps as links of its
own, behind those that it has: from there on they are links like any other, which the rules may
drop and the policy may ignore. Only sitemaps that robots.txt names are fetched, and only those
of the site itself. Each is a request as polite and as guarded as that of a page, and waits its
turn; there are at most `MAX_FILES` of them, an index and what it lists included. A sitemap that
cannot be had is none: the page does not suffer from it.
"""

from __future__ import annotations

import logging
from collections import deque
from time import monotonic

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

from tres.engines.flights import Answer
from tres.engines.reading.tasks import ReadSitemap
from tres.engines.scrapy.decompression import encodings_of, reader_of
from tres.engines.scrapy.failures import named
from tres.engines.scrapy.politeness_middleware import politeness_of, server_response_of
from tres.engines.scrapy.robots_middleware import MAX_TURN, RobotsMiddleware
from tres.web.sitemap import MAX_URLS, Sitemap
from tres.web.url import SiteBy, canonical, site_of

MAX_FILES = 5

_log = logging.getLogger(__name__)


class Sitemaps:
    """Knows which sites have been asked for their sitemaps, in one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._politeness = politeness_of(crawler)
        self._site_by: SiteBy = crawler.settings.get("TRES_SITE") or "host"
        self._asked: set[str] = set()

    async def listed(self, url: str) -> tuple[str, ...]:
        """The pages that the sitemaps of a page's site list, when they are asked for first."""
        here = canonical(url)
        robots = self._crawler.get_downloader_middleware(RobotsMiddleware)
        if here is None or robots is None or (site := site_of(here, self._site_by)) in self._asked:
            return ()
        self._asked.add(site)
        named_there = robots.sitemaps(here)
        return await self._pages(site, [each for each in named_there if self._is_of(each, site)])

    def _is_of(self, url: str, site: str) -> bool:
        return site_of(url, self._site_by) == site

    async def _pages(self, site: str, sitemaps: list[str]) -> tuple[str, ...]:
        waiting, seen = deque(sitemaps), set[str]()
        pages: dict[str, None] = {}
        while waiting and len(seen) < MAX_FILES and len(pages) < MAX_URLS:
            if (url := waiting.popleft()) not in seen:
                seen.add(url)
                found = await self._read(site, url)
                pages |= dict.fromkeys(found.pages)
                waiting.extend(found.sitemaps)
        return tuple(pages)[:MAX_URLS]

    async def _read(self, site: str, url: str) -> Sitemap:
        try:
            response = await self._download(site, url)
        except Exception as problem:  # whatever it is, it has a name, and costs the sitemap only
            _log.warning("sitemap %s: %s", url, named(url, problem).note)
            return Sitemap()
        if response is None or not 200 <= response.status < 300:
            return Sitemap()
        task = ReadSitemap(url, response.body, encodings_of(response), self._site_by)
        return await reader_of(self._crawler).ask(task)

    async def _download(self, site: str, url: str) -> Response | None:
        """The file, in its turn; None if that is too far away. Moved ones are not followed."""
        from twisted.internet import reactor

        now = monotonic()
        if self._politeness.ready_at(site, now) - now > MAX_TURN:
            return None
        wait = self._politeness.turn(site, now) - now
        if wait > 0:
            await maybe_deferred_to_future(deferLater(reactor, wait))
        meta = {"dont_redirect": True, "dont_retry": True, "verbatim_url": True}
        request = Request(url, callback=NO_CALLBACK, meta=meta)
        return await self._answered(site, request)

    async def _answered(self, site: str, request: Request) -> Response:
        """What the site answers; it is asked for nothing else meanwhile if it may not be."""
        assert self._crawler.engine is not None  # it has sent us a page
        self._politeness.depart(site, monotonic())
        said = Answer()
        try:
            response = await self._crawler.engine.download_async(request)
            said = server_response_of(response, request)
            return response
        finally:
            now = monotonic()
            self._politeness.arrive(site, now, said.latency, said.status, said.retry_after)
