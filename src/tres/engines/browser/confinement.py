"""What a page may do while its scripts run: one document, its scripts and its data.

The browser does not fetch the document: Scrapy has fetched it, subject to robots.txt, delays,
redirects and limits, and has determined its charset. The browser gets that text as the response to
its first navigation, and then the page stays where it is. Scripts may fetch code and data; every
request that only decorates, navigates, opens or stores something is refused. The scripts are
stopped before the page is read, so that what was measured is what is read.
"""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Route, WebSocketRoute
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy.http import HtmlResponse

from tres.web.url import site_of

CONTEXT = {
    "accept_downloads": False,
    "permissions": [],
    "service_workers": "block",
    "viewport": {"width": 1280, "height": 1024},
}
"""Every page gets a fresh context, without cookies, storage or permissions."""

_HTML = "text/html; charset=utf-8"
_CODE_AND_DATA = {"script", "xhr", "fetch"}
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


async def confine(page: Page, document: HtmlResponse) -> None:
    """Apply the rules to a page that has not navigated yet."""
    await page.context.route("**/*", _refuse)  # for popups and workers
    await page.context.route_web_socket("**/*", _close_socket)
    await page.route("**/*", Rules(page, document).answer)
    page.on("popup", _close_popup)


class Rules:
    """Decides every request of one page."""

    def __init__(self, page: Page, document: HtmlResponse) -> None:
        self.page = page
        self.document = document
        self.site = site_of(document.url, "domain")
        self._answered = False

    async def answer(self, route: Route) -> None:
        """Let a request pass, fulfil it, or refuse it."""
        with suppress(PlaywrightError):  # the page may be gone by now
            if self._is_document(route.request):
                self._answered = True
                await route.fulfill(status=200, content_type=_HTML, body=self.document.text)
            elif route.request.resource_type == "stylesheet":  # some scripts insist on them
                await route.fulfill(status=200, content_type="text/css", body="")
            elif self._may_pass(route.request):
                await route.continue_()
            else:
                await _refuse(route)

    def _is_document(self, request: Request) -> bool:
        return (
            not self._answered
            and request.is_navigation_request()
            and request.frame == self.page.main_frame
        )

    def _may_pass(self, request: Request) -> bool:
        """Is this code or data over http(s)? A page may send data to its own site only."""
        if request.resource_type not in _CODE_AND_DATA:
            return False
        if urlsplit(request.url).scheme not in ("http", "https"):
            return False
        return request.method in _SAFE_METHODS or (
            request.method == "POST" and site_of(request.url, "domain") == self.site
        )


async def settle(page: Page, quiet_seconds: float) -> int:
    """Wait until the network is idle, stop the scripts, and return the length of the HTML."""
    with suppress(PlaywrightTimeout):  # some pages are never idle: they are read as they are
        await page.wait_for_load_state("networkidle", timeout=quiet_seconds * 1000)
    browser = await page.context.new_cdp_session(page)
    await browser.send("Emulation.setScriptExecutionDisabled", {"value": True})
    await browser.send("Page.stopLoading")
    # measured in an isolated world, where no script of the page can have changed `outerHTML`
    frame = (await browser.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await browser.send("Page.createIsolatedWorld", {"frameId": frame})
    measured = await browser.send(
        "Runtime.evaluate",
        {
            "expression": "document.documentElement.outerHTML.length",
            "contextId": world["executionContextId"],
        },
    )
    return int(measured["result"]["value"])


async def _refuse(route: Route) -> None:
    """Refuse a request in the one way that does not replace the page by an error page."""
    await route.abort("aborted")


async def _close_socket(socket: WebSocketRoute) -> None:
    await socket.close()


async def _close_popup(popup: Page) -> None:
    with suppress(PlaywrightError):
        await popup.close()
