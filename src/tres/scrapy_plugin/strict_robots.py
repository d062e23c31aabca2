"""A project's own robots.txt middleware, made strict for the pages that tres chooses.

If Scrapy cannot fetch a robots.txt, it takes that for permission: after a failed connection, after
a 500, and even if the spider's `allowed_domains` kept it from asking. RFC 9309 says the opposite.
So, where a project obeys robots.txt,

* requests for robots.txt pass OffsiteMiddleware, as the pages do that need them;
* a chosen page whose robots.txt is unknown fails as `robots-unreachable`, and the next page of that
  host asks again;
* a chosen page that is forbidden fails as `robots-denied`.

Parser, user agent, statistics and signals stay those of the project's middleware, and so does what
happens to the spider's own requests. Scrapy makes the scheduler after the middlewares, so this one
takes its place in the chain by hand.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.httpobj import urlparse_cached

from tres.engines.politeness.robots_txt import leaves_unknown
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.internals import forget_robots
from tres.engines.scrapy.scheduler import FLIGHT
from tres.web.page import FailureKind

_HOST = "tres_robots_of"
"""The key of a robots.txt request's meta that holds the host it is for, redirected or not."""


class StrictRobots:
    """Takes the place of the project's own middleware in the chain."""

    def __init__(self, crawler: Crawler, own: RobotsTxtMiddleware) -> None:
        assert crawler.engine is not None  # it opens the scheduler
        self._own = own
        self._crawler = crawler
        self._known: set[str] = set()
        methods = crawler.engine.downloader.middleware.methods["process_request"]
        methods[methods.index(own.process_request)] = self.process_request
        methods.appendleft(self._let_robots_pass)
        crawler.signals.connect(self._on_response, signals.response_received)

    async def process_request(self, request: Request) -> None:
        """Ask the project's middleware; unknown rules forbid the page."""
        if FLIGHT not in request.meta:
            return await self._ask(request)
        try:
            await self._ask(request)
        except NamedFailure:
            raise
        except IgnoreRequest as refusal:
            raise NamedFailure(FailureKind.ROBOTS, str(refusal)) from refusal
        host = urlparse_cached(request).netloc
        if host in self._known or request.meta.get("dont_obey_robotstxt"):
            return None
        forget_robots(self._own, host)
        note = f"the robots.txt of {host} could not be fetched"
        raise NamedFailure(FailureKind.ROBOTS_UNREACHABLE, note)

    async def _ask(self, request: Request) -> None:
        ask = self._own.process_request
        old_style = argument_is_required(ask, "spider")
        known = {"spider": self._crawler.spider} if old_style else {}
        answer: Any = ask(request=request, **known)
        if isawaitable(answer):  # in a subclass of the project it need not be
            await answer

    def _let_robots_pass(self, request: Request) -> None:
        """Let the middleware's requests pass OffsiteMiddleware: the page behind them has passed."""
        own = request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt")
        if own and request.url.endswith("/robots.txt"):
            request.meta.setdefault(_HOST, urlparse_cached(request).netloc)
            request.meta["allow_offsite"] = True

    def _on_response(self, response: Response, request: Request) -> None:
        host = request.meta.get(_HOST)
        if host is not None and not leaves_unknown(response.status):
            self._known.add(host)


def make_robots_strict(crawler: Crawler) -> StrictRobots | None:
    """Make the robots.txt middleware of a project strict, if the project has one."""
    own = crawler.get_downloader_middleware(RobotsTxtMiddleware)
    return None if own is None else StrictRobots(crawler, own)
