"""The politeness clock of a crawler, and the middleware that obeys it.

The scheduler asks the politeness clock before it chooses a page. Requests that it never sees, for
robots.txt or a sitemap, are refused here while their site is backing off.

The first request to a site finds out its address. From then on the clock knows it, and the site is
chosen only when its address is ready as well (`tres.engines.politeness.address_limits`). A first
request that comes too early goes back to the scheduler, as a retry does, and waits there. Behind a
proxy the address of a site is unknown, so there is no limit by address.
"""

from __future__ import annotations

from time import monotonic, time
from typing import Self, cast
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from tres.engines.network.addresses import server_of
from tres.engines.politeness.clock import PolitenessClock, ServerResponse
from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.scrapy.address_lookup import lookup_of
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.internals import shared
from tres.settings.sections import LiveSection
from tres.web.page import FailureKind
from tres.web.url import SiteBy, canonical, site_of


def live_section_of(crawler: Crawler) -> LiveSection:
    """Return the section `live` of the topic file that the crawl was started with."""
    return cast(LiveSection, crawler.settings.get("TRES_LIVE") or LiveSection())


def politeness_of(crawler: Crawler, earlier: PolitenessClock | None = None) -> PolitenessClock:
    """Return the clock that scheduler, handler and middlewares share.

    At first use it is that of an earlier crawl, if there is one, or a new one.
    """
    return shared(
        crawler, "politeness", lambda: earlier or PolitenessClock(live_section_of(crawler))
    )


def site_by_of(crawler: Crawler) -> SiteBy:
    """Return what counts as one site in this crawl: a host or a domain."""
    return cast(SiteBy, crawler.settings.get("TRES_SITE") or "host")


def site_of_url(url: str, by: SiteBy) -> str:
    """Return the site whose delay a request has to respect; a URL not of the Web is its own."""
    known = canonical(url)
    return site_of(known, by) if known else url


def server_response_of(response: Response, request: Request) -> ServerResponse:
    """Return what a response says to the politeness clock."""
    wait = parse_retry_after(response.headers.get("Retry-After"), time())
    return ServerResponse(response.status, request.meta.get("download_latency"), wait)


class PolitenessMiddleware:
    """A downloader middleware that refuses sites that back off, and looks up their addresses."""

    def __init__(self, crawler: Crawler) -> None:
        self._politeness = politeness_of(crawler)
        self._site_by = site_by_of(crawler)
        self._lookup = None if crawler.settings.get("TRES_PROXY") else lookup_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, refuse it, or send it back to wait."""
        site = site_of_url(request.url, self._site_by)
        if self._politeness.is_backing_off(site, monotonic()):
            note = "the site did not answer, or asked to be left alone"
            raise NamedFailure(FailureKind.SITE_DOWN, note)
        if self._lookup is None or not self._politeness.lacks_address(site):
            return None
        if request.callback is NO_CALLBACK or not request.url.startswith("http"):
            return None  # it does not come from the scheduler, to which it would go back
        host = urlsplit(request.url).hostname or ""
        asking: Deferred[list[str]] = Deferred.fromCoroutine(self._lookup.resolve_early(host))
        addresses = await maybe_deferred_to_future(asking)
        server = server_of(addresses)
        return None if self._politeness.set_address(site, server, monotonic()) else request.copy()
