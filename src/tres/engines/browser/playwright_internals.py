"""The one private name of scrapy-playwright that tres uses.

As with `tres.engines.scrapy.internals`, the contract test checks that it is still there. Works with
scrapy-playwright 0.0.46 to 0.0.48.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from playwright.async_api import Page
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler


class PageHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # is untyped
    """scrapy-playwright, with a hook between navigation and reading.

    The public `playwright_page_methods` wait for the load event afterwards, which a page whose
    scripts were stopped never fires.
    """

    def __init__(self, crawler: Crawler, before_reading: Callable[[Page], Awaitable[None]]) -> None:
        super().__init__(crawler)
        self.before_reading = before_reading

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        await self.before_reading(page)
