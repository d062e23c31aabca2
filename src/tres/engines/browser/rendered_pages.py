"""Pages as a browser shows them, instead of what the server sent.

This downloader middleware comes last on a response's way up: the pages it sees were allowed by
robots.txt, redirected, and small enough. Those that need it are rendered in the browser, and go on
with the HTML that their scripts have made. All other responses pass unchanged, and the exchange
that a WARC keeps is the one with the server.

Everything in the browser has a limit: `live.timeout` for the rendering, `live.max_bytes` for the
HTML, and a browser that hangs or grows too large is replaced. The page then fails with a named
reason, and the crawl goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from tres.engines.browser.chromium import CLOSING_SECONDS, GuardedChromium
from tres.engines.browser.confinement import CONTEXT, confine, settle
from tres.engines.browser.guarding_proxy import GuardingProxy, Limits
from tres.engines.browser.needs_rendering import Rendering
from tres.engines.browser.playwright_internals import PageHandler
from tres.engines.browser.playwright_settings import Browsing
from tres.engines.scrapy.capture import may_be_page
from tres.engines.scrapy.decompression import decompressed
from tres.engines.scrapy.failures import NamedFailure
from tres.errors import printable
from tres.web.page import FailureKind

PAGES_AT_ONCE = 4
OLD_BYTES = 1_000_000_000
"""A browser that holds this much is replaced between pages; at twice that, a page is killed."""

_MEMORY_CHECK_SECONDS = 0.5
_QUIET_SHARE = 1 / 3  # of `live.timeout`, at most, for the scripts of a page to finish
_QUIET_SECONDS = 5.0
_SUBREQUEST_PAGES = 4  # bytes of one connection, in multiples of `live.max_bytes`
_DOCUMENT = "tres_document"
_TOO_LARGE = "larger than live.max_bytes when rendered"


class RenderingMiddleware:
    """A downloader middleware that renders the pages that need it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.browsing: Browsing = crawler.settings["TRES_BROWSING"]
        self.rendering = Rendering(self.browsing.live)
        self.renderer = Renderer(crawler, self.browsing)
        crawler.signals.connect(self.renderer.close, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RenderingMiddleware:
        """Return the middleware of a crawler."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, rendered if it is a page that needs it."""
        if response.status == 200 and may_be_page(response):
            response = await decompressed(response, self._crawler, self.browsing.live.max_bytes)
        if not isinstance(response, HtmlResponse) or not self._wants(response):
            return response
        html = await self.renderer.render(response, request.headers.get("User-Agent"))
        headers = response.headers.copy()
        headers["Content-Type"] = "text/html; charset=utf-8"
        return response.replace(
            body=html, headers=headers, encoding="utf-8", flags=[*response.flags, "rendered"]
        )

    def _wants(self, response: HtmlResponse) -> bool:
        if response.status != 200 or urlsplit(response.url).path == "/robots.txt":
            return False
        return self.rendering.wants(response.url, response.body)


async def _confine(page: Page, request: Request) -> None:
    """Apply the rules before a page navigates.

    scrapy-playwright only logs an exception from here, so the page is closed: it must not navigate
    without the rules.
    """
    try:
        await confine(page, request.meta[_DOCUMENT])
    except BaseException:
        await page.close()
        raise


class Renderer:
    """Renders some pages at a time, in a browser that is replaced when it is old or stuck."""

    def __init__(self, crawler: Crawler, browsing: Browsing) -> None:
        self.live = browsing.live
        self.pages_per_browser = browsing.pages_per_browser
        limits = Limits(
            seconds=2 * self.live.timeout, bytes=_SUBREQUEST_PAGES * self.live.max_bytes
        )
        self.guard = GuardingProxy(browsing.permitted, limits, self.live.proxy)
        self.handler = PageHandler(crawler, self._settle)
        self.chromium = GuardedChromium(self.handler.config, self.guard)
        self.handler.browser_provider_cls = lambda config: self.chromium
        self._stats = crawler.stats
        self._names = map("page-{}".format, count())
        self._change = asyncio.Condition()
        self._open = 0
        self._pages = 0

    async def render(self, document: HtmlResponse, user_agent: bytes | None) -> bytes:
        """Return the HTML of a document after its scripts have run, in UTF-8."""
        async with self._turn():
            try:
                await self._launch()
                rendered = await self._within_limits(self._download(document, user_agent))
            except (TimeoutError, PlaywrightTimeout):
                raise NamedFailure(FailureKind.TIMEOUT, "rendering took too long") from None
            except PlaywrightError as problem:
                note = printable(problem.message.partition("\n")[0])
                raise NamedFailure(FailureKind.UNREADABLE, note) from None
        html: bytes = rendered.text.encode()
        if len(html) > self.live.max_bytes:
            raise NamedFailure(FailureKind.TOO_LARGE, _TOO_LARGE)
        return html

    async def _download(self, document: HtmlResponse, user_agent: bytes | None) -> Any:
        """Render one page in its own context, which is always closed afterwards."""
        name = next(self._names)
        agent = {"user_agent": user_agent.decode("latin-1")} if user_agent else {}
        locale = {"locale": self.live.languages[0]} if self.live.languages else {}
        request = Request(
            document.url,
            meta={
                "playwright": True,
                "playwright_context": name,
                "playwright_context_kwargs": CONTEXT | agent | locale,
                "playwright_page_goto_kwargs": {"wait_until": "commit"},
                "playwright_page_init_callback": _confine,
                _DOCUMENT: document,
            },
        )
        try:
            return await self.handler.download_request(request)
        finally:
            await self._dispose(name)

    async def _settle(self, page: Page) -> None:
        """Wait for the scripts of a page before it is read."""
        quiet = min(_QUIET_SECONDS, self.live.timeout * _QUIET_SHARE)
        if await settle(page, quiet) > self.live.max_bytes:
            raise NamedFailure(FailureKind.TOO_LARGE, _TOO_LARGE)

    async def _dispose(self, name: str) -> None:
        """Close a context; if that fails, the browser is stuck and is replaced."""
        if wrapper := self.handler.context_wrappers.get(name):
            try:
                await asyncio.wait_for(wrapper.context.close(), CLOSING_SECONDS)
            except TimeoutError:
                await self._replace()
            except PlaywrightError:
                pass  # gone with its browser

    async def _within_limits(self, download: Coroutine[Any, Any, Any]) -> Any:
        """Wait for a page, within limits of time and memory."""
        task = asyncio.ensure_future(download)
        try:
            async with asyncio.timeout(self.live.timeout):
                while not task.done():
                    await asyncio.wait({task}, timeout=_MEMORY_CHECK_SECONDS)
                    if self.chromium.memory() > 2 * OLD_BYTES:
                        self.chromium.kill_largest()
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Let some pages render at once; replace an old browser when its last page is done."""
        async with self._change:
            await self._change.wait_for(self._may_start)
            if self._is_old():
                await self._replace()
            self._open += 1
            self._pages += 1
        try:
            yield
        finally:
            self._open -= 1
            async with self._change:
                self._change.notify_all()

    def _may_start(self) -> bool:
        return self._open == 0 or (self._open < PAGES_AT_ONCE and not self._is_old())

    def _is_old(self) -> bool:
        return self._pages >= self.pages_per_browser or self.chromium.memory() > OLD_BYTES

    async def _replace(self) -> None:
        """End the browser; the next page starts a new one."""
        self._pages = 0
        self._stats.inc_value("tres/browsers_replaced")
        await self.chromium.retire()

    async def _launch(self) -> None:
        """Make sure that a browser runs, and that scrapy-playwright uses it."""
        browser = await self.chromium.launch_browser()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                while getattr(self.handler, "browser", browser) is not browser:
                    await asyncio.sleep(0.01)
            return
        self.handler.browser = browser  # it missed the end of the last one

    async def close(self) -> None:
        """End the browser, its driver and the proxy."""
        await self.chromium.retire()
        with suppress(TimeoutError, PlaywrightError):
            await asyncio.wait_for(self.handler.close(), CLOSING_SECONDS)
