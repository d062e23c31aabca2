"""A plain spider with a browser, run as a program: fetches URLs and prints what came of them.

    python crawl.py '{"urls": [...], "live": {...}, "permitted": [...], "pages_per_browser": 2}'

One line of JSON per URL. It is a program of its own because a Scrapy reactor runs only once in
a process, and because the tests look at which processes it leaves behind.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from twisted.python.failure import Failure

from tres.engines.browser.playwright_settings import browser_settings
from tres.settings.sections import LiveSection


class Permitted:
    """Addresses that may be connected to."""

    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses

    def __call__(self, address: str) -> bool:
        return address in self.addresses


class Fetcher(scrapy.Spider):
    name = "fetcher"
    urls: tuple[str, ...] = ()

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for url in self.urls:
            yield scrapy.Request(url, callback=self.parse, errback=self.failed, dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> None:
        rendered = self._rendered()
        self._say(
            asked=response.request.url if response.request else "",
            url=response.url,
            flags=response.flags,
            text=" ".join(response.xpath("//body//text()[not(parent::script)]").getall()).split(),
            links=response.xpath("//a/@href").getall(),
            browser=rendered and rendered.renderer.chromium.process,
            refused=dict(rendered.renderer.guard.refused) if rendered else {},
        )

    def failed(self, failure: Failure) -> None:
        kind = getattr(failure.value, "kind", type(failure.value).__name__)
        self._say(asked=failure.request.url, failed=kind, note=str(failure.value))

    def _rendered(self) -> Any:
        if "TRES_BROWSING" not in self.settings:
            return None
        from tres.engines.browser.rendered_pages import RenderingMiddleware

        return self.crawler.get_downloader_middleware(RenderingMiddleware)

    def _say(self, **what: object) -> None:
        print(json.dumps(what), flush=True)


def main(order: dict[str, Any]) -> None:
    live = LiveSection(
        **{k: tuple(v) if isinstance(v, list) else v for k, v in order["live"].items()}
    )
    settings = browser_settings(
        live, Permitted(order["permitted"]), order.get("pages_per_browser", 200)
    )
    if "TRES_BROWSING" in settings:
        from tres.engines.browser import rendered_pages as rendered

        # leaves the share of the timeout as the only limit: a busy machine comes to rest late
        rendered._QUIET_SECONDS = 20.0
    common = {
        "LOG_LEVEL": "WARNING",
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": order.get("at_once", 1),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "USER_AGENT": "tres-test",
    }
    process = CrawlerProcess(settings=common | settings)
    process.crawl(Fetcher, urls=tuple(order["urls"]))
    process.start()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
