"""No requests to sites that are backing off.

The scheduler asks the politeness clock before it chooses a page. Requests that it never sees, for
robots.txt or a sitemap, are refused here.
"""

from __future__ import annotations

from time import monotonic

from scrapy import Request
from scrapy.crawler import Crawler

from tres.engines.politeness.clock import PolitenessClock
from tres.engines.scrapy.failures import SiteDown
from tres.engines.scrapy.shared_politeness import politeness_of, site_by_of, site_of_url
from tres.web.url import SiteBy


class PolitenessMiddleware:
    """A downloader middleware that refuses requests to sites that are backing off."""

    def __init__(self, politeness: PolitenessClock, site_by: SiteBy) -> None:
        self._politeness = politeness
        self._site_by = site_by

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        return cls(politeness_of(crawler), site_by_of(crawler))

    def process_request(self, request: Request) -> None:
        """Let a request pass, or refuse it."""
        if self._politeness.is_backing_off(site_of_url(request.url, self._site_by), monotonic()):
            raise SiteDown("the site did not answer, or asked to be left alone")
