"""What a page may do while its scripts run: one document, its scripts and its data.

The document is not fetched by the browser: Scrapy has fetched it, after robots.txt, delays,
redirects and limits, and has found out its charset. The browser is handed that text as the
answer to its first navigation, and then the page stays where it is. What a script may ask for
is code and data; everything that only adorns, leaves, opens or stores something is refused.
The scripts are stopped before the page is read, so that what was measured is what is read.
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
_ASKING = {"GET", "HEAD", "OPTIONS"}


async def confine(page: Page, document: HtmlResponse) -> None:
    """Put the rules in force for a page that has not navigated yet."""
    await page.context.route("**/*", _refuse)  # for all that does not belong to `page`
    await page.context.route_web_socket("**/*", _hang_up)
    await page.route("**/*", Rules(page, document).answer)
    page.on("popup", _close)


class Rules:
    """Answers every request of one page."""

    def __init__(self, page: Page, document: HtmlResponse) -> None:
        self.page = page
        self.document = document
        self.site = site_of(document.url, "domain")
        self._answered = False

    async def answer(self, route: Route) -> None:
        """Let a request pass, give it its answer, or refuse it."""
        with suppress(PlaywrightError):  # the page may be gone in the meantime
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
        """Code and data over http(s); to send something is allowed to the page's own site."""
        if request.resource_type not in _CODE_AND_DATA:
            return False
        if urlsplit(request.url).scheme not in ("http", "https"):
            return False
        return request.method in _ASKING or (
            request.method == "POST" and site_of(request.url, "domain") == self.site
        )


async def settle(page: Page, quiet_seconds: float) -> int:
    """Wait until the page asks for nothing more, stop its scripts, and say how long it is."""
    with suppress(PlaywrightTimeout):  # some pages never come to rest: they are read as they are
        await page.wait_for_load_state("networkidle", timeout=quiet_seconds * 1000)
    browser = await page.context.new_cdp_session(page)
    await browser.send("Emulation.setScriptExecutionDisabled", {"value": True})
    await browser.send("Page.stopLoading")
    # measured in a world of our own, where no script of the page can have changed the ruler
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
    """Refuse a request so that the page which made it stays (other errors would replace it)."""
    await route.abort("aborted")


async def _hang_up(socket: WebSocketRoute) -> None:
    await socket.close()


async def _close(popup: Page) -> None:
    with suppress(PlaywrightError):
        await popup.close()
