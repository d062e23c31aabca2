"""Sitemaps as a further source of links, if the topic file asks for them (`live.sitemaps`).

The first page that a crawl reads on a site gets the URLs of the site's sitemaps as links of its
own, after those that it has. From then on they are links like any other, which the rules may drop
and the policy may ignore. Only sitemaps that robots.txt names are fetched, and only those of the
site itself. Each is a request as polite and as guarded as that of a page, and waits its turn; there
are at most `MAX_FILES` of them, including an index and what it lists. If a sitemap cannot be
fetched, the page simply gets fewer links.
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

from tres.engines.politeness.clock import NO_RESPONSE
from tres.engines.reading.tasks import ReadSitemap
from tres.engines.scrapy.decompression import encodings_of, reader_of
from tres.engines.scrapy.failures import name_failure
from tres.engines.scrapy.politeness_middleware import politeness_of, server_response_of, site_by_of
from tres.engines.scrapy.robots_middleware import MAX_TURN, RobotsMiddleware
from tres.web.sitemap import MAX_URLS, Sitemap
from tres.web.url import canonical, site_of

MAX_FILES = 5

_log = logging.getLogger(__name__)


class SitemapReader:
    """Fetches the sitemaps of each site once in a crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._politeness = politeness_of(crawler)
        self._site_by = site_by_of(crawler)
        self._asked: set[str] = set()

    async def pages_for(self, url: str) -> tuple[str, ...]:
        """Return the pages in the sitemaps of a URL's site; none after the first call for it."""
        here = canonical(url)
        robots = self._crawler.get_downloader_middleware(RobotsMiddleware)
        if here is None or robots is None or (site := site_of(here, self._site_by)) in self._asked:
            return ()
        self._asked.add(site)
        own = [each for each in robots.sitemaps(here) if site_of(each, self._site_by) == site]
        return await self._pages(site, own)

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
        except Exception as problem:  # any failure costs the sitemap only
            _log.warning("sitemap %s: %s", url, name_failure(url, problem).note)
            return Sitemap()
        if response is None or not 200 <= response.status < 300:
            return Sitemap()
        task = ReadSitemap(url, response.body, encodings_of(response), self._site_by)
        return await reader_of(self._crawler).ask(task)

    async def _download(self, site: str, url: str) -> Response | None:
        """Fetch a file in its turn; None if that is too late. Redirects are not followed."""
        from twisted.internet import reactor

        now = monotonic()
        if self._politeness.ready_at(site, now) - now > MAX_TURN:
            return None
        wait = self._politeness.take_turn(site, now) - now
        if wait > 0:
            await maybe_deferred_to_future(deferLater(reactor, wait))
        meta = {"dont_redirect": True, "dont_retry": True, "verbatim_url": True}
        request = Request(url, callback=NO_CALLBACK, meta=meta)
        return await self._counted_download(site, request)

    async def _counted_download(self, site: str, request: Request) -> Response:
        """Send the request, counted by the politeness clock like that of a page."""
        assert self._crawler.engine is not None  # it has sent us a page
        self._politeness.request_started(site, monotonic())
        answer = NO_RESPONSE
        try:
            response = await self._crawler.engine.download_async(request)
            answer = server_response_of(response, request)
            return response
        finally:
            self._politeness.request_finished(site, monotonic(), answer)
