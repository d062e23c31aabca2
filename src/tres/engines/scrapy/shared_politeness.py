"""The politeness clock of a crawler, and what Scrapy's parts tell it."""

from __future__ import annotations

from time import time
from typing import cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from tres.engines.politeness.clock import PolitenessClock, ServerResponse
from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.scrapy.internals import shared
from tres.settings.sections import LiveSection
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
    """Return the site whose delay a request to any URL has to respect."""
    known = canonical(url)
    return site_of(known, by) if known else ""


def server_response_of(response: Response, request: Request) -> ServerResponse:
    """Return what a response says to the politeness clock."""
    wait = parse_retry_after(response.headers.get("Retry-After"), time())
    return ServerResponse(response.status, request.meta.get("download_latency"), wait)
