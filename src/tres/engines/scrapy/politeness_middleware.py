"""What the downloader does for the politeness clock.

The scheduler asks the clock whom it may ask, and tells it of every request that departs and comes
back. Here, requests that it has not seen (for robots.txt or a sitemap, say) are refused if their
site must rest, and what may be tried again goes back through the scheduler, so that it waits its
turn as everything else.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, time
from typing import cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response
from scrapy.settings import BaseSettings

from tres.engines.flights import Answer
from tres.engines.politeness.clock import PolitenessClock
from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.scrapy.failures import SiteDown, SlowSite, named
from tres.settings.sections import LiveSection
from tres.web.url import SiteBy, canonical, site_of

PROBLEM = "tres_problem"
"""The key of a retried request's meta that says what was wrong the last time (`Named`)."""


def live_settings(crawler: Crawler) -> LiveSection:
    """The settings that the crawl was started with."""
    return cast(LiveSection, crawler.settings.get("TRES_LIVE") or LiveSection())


def politeness_of(crawler: Crawler, given: PolitenessClock | None = None) -> PolitenessClock:
    """The politeness clock that scheduler and middlewares share: the spider's, if it has one.

    One that is `given` becomes that of the crawler, if it has none yet.
    """
    known = getattr(crawler.spider, "politeness", None) or crawler.__dict__.get("tres_politeness")
    if not isinstance(known, PolitenessClock):
        known = crawler.__dict__["tres_politeness"] = given or PolitenessClock(
            live_settings(crawler)
        )
    return known


def site_of_url(url: str, by: SiteBy) -> str:
    """The site whose politeness a request to any URL is subject to."""
    known = canonical(url)
    return site_of(known, by) if known else ""


def server_response_of(response: Response, request: Request) -> Answer:
    """What a response tells the politeness clock."""
    wait = parse_retry_after(response.headers.get("Retry-After"), time())
    return Answer(response.status, request.meta.get("download_latency"), wait)


def stricter_politeness(live: LiveSection, settings: BaseSettings) -> LiveSection:
    """The politeness of a crawl in somebody's project: as strict as its downloader is.

    A page that the downloader would only hold back is not chosen.
    """
    at_once = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    return replace(
        live,
        delay=max(live.delay, settings.getfloat("DOWNLOAD_DELAY")),
        per_site=min(live.per_site, at_once) if at_once else live.per_site,
    )


class PolitenessMiddleware:
    """A downloader middleware that asks nothing of sites that rest."""

    def __init__(self, politeness: PolitenessClock, site_by: SiteBy) -> None:
        self._politeness = politeness
        self._site_by = site_by

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        return cls(politeness_of(crawler), crawler.settings.get("TRES_SITE") or "host")

    def process_request(self, request: Request) -> None:
        """Let a request pass, or refuse it."""
        if self._politeness.rests(site_of_url(request.url, self._site_by), monotonic()):
            raise SiteDown("the site did not answer, or asked to be left alone")


class FailureRetryMiddleware(RetryMiddleware):
    """Scrapy's retries for every failure that is named retryable, and for no other."""

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # type: ignore[override]
        """Another attempt, through the scheduler, if one is left."""
        problem = named(request.url, exception)
        if not problem.failed.retryable or request.meta.get("dont_retry"):
            return None
        if isinstance(exception, SiteDown | SlowSite):  # later, but not as soon as that
            return None
        again = self._retry(request, exception)
        if again is not None:
            again.meta[PROBLEM] = problem
        return again
