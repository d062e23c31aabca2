"""The first request to a site finds out its address, and waits for its turn there.

From then on the politeness clock knows the address of the site, and the site is chosen only when
its address is ready as well (`tres.engines.politeness.address_limits`). A first request that comes
too early goes back to the scheduler, as a retry does, and waits there.

Behind a proxy the address of a site is unknown, so there is no limit by address.
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
from tres.engines.scrapy.address_lookup import lookup_of
from tres.engines.scrapy.shared_politeness import (
    live_section_of,
    politeness_of,
    site_by_of,
    site_of_url,
)


class AddressLimitMiddleware:
    """A downloader middleware that tells the politeness clock the address of each site."""

    def __init__(self, crawler: Crawler) -> None:
        if crawler.settings.get("TRES_PROXY") or not live_section_of(crawler).per_address:
            raise NotConfigured
        self._politeness = politeness_of(crawler)
        self._lookup = lookup_of(crawler)
        self._site_by = site_by_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AddressLimitMiddleware:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, or send it back to wait."""
        site = site_of_url(request.url, self._site_by)
        if not self._politeness.lacks_address(site) or not _is_of_page(request):
            return None
        host = urlsplit(request.url).hostname or ""
        asking: Deferred[list[str]] = Deferred.fromCoroutine(self._lookup.resolve_early(host))
        addresses = await maybe_deferred_to_future(asking)
        server = server_of(addresses)
        return None if self._politeness.set_address(site, server, monotonic()) else request.copy()


def _is_of_page(request: Request) -> bool:
    """Does the request come from the scheduler, to which it can go back?"""
    return request.callback is not NO_CALLBACK and request.url.startswith("http")
