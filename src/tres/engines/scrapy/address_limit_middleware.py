"""The first request to a site finds out where the site is, and waits for its turn there.

From then on the politeness clock knows the address of the site, and the site is chosen only when
its address may be asked as well (`tres.engines.politeness.address_limits`). A first request that
comes too early goes back to the scheduler, as a retry does, and waits there; nothing of it is
lost.

Behind a proxy nobody here knows where a site is, so there is no limit by address.
"""

from __future__ import annotations

from time import monotonic
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from tres.engines.network.addresses import server_of
from tres.engines.scrapy.guarded_handler import lookup_of
from tres.engines.scrapy.politeness_middleware import live_settings, politeness_of, site_of_url
from tres.web.url import SiteBy


class AddressLimitMiddleware:
    """A downloader middleware that tells the politeness clock where sites are."""

    def __init__(self, crawler: Crawler) -> None:
        if crawler.settings.get("TRES_PROXY") or not live_settings(crawler).per_address:
            raise NotConfigured
        self._politeness = politeness_of(crawler)
        self._lookup = lookup_of(crawler)
        self._site_by: SiteBy = crawler.settings.get("TRES_SITE") or "host"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AddressLimitMiddleware:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, or send it back to wait."""
        site = site_of_url(request.url, self._site_by)
        if not self._politeness.lacks_address(site) or not _is_of_page(request):
            return None
        host = urlsplit(request.url).hostname or ""
        asking: Deferred[list[str]] = Deferred.fromCoroutine(self._lookup.ahead(host))
        addresses = await maybe_deferred_to_future(asking)
        server = server_of(addresses)
        return None if self._politeness.locate(site, server, monotonic()) else request.copy()


def _is_of_page(request: Request) -> bool:
    """Has it come from the scheduler, to which it can go back?"""
    return request.callback is not NO_CALLBACK and request.url.startswith("http")
