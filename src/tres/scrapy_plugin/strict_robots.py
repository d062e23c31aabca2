"""A project's own robots.txt middleware, made strict for the pages that tres chooses.

Scrapy takes a robots.txt that it could not get for permission: after a failed connection, after an
answer of 500, and even if the spider's `allowed_domains` kept it from asking. RFC 9309 says the
opposite. So, where a project obeys robots.txt,

* requests for robots.txt pass OffsiteMiddleware: whoever may ask for a page may ask for the rules;
* a page of ours whose robots.txt is not known fails as `robots-unreachable`, and the next page of
  that host asks again;
* a page of ours that is forbidden fails as `robots-denied`.

Parser, user agent, statistics and signals stay those of the project's middleware, as does what it
does for requests of the spider's own. A scheduler is made after the middlewares, so this one takes
its place in their chain by hand.
"""

from __future__ import annotations

from inspect import isawaitable

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from tres.engines.politeness.robots_txt import leaves_unknown
from tres.engines.scrapy.failures import NamedFailure, RobotsDenied, RobotsUnreachable
from tres.engines.scrapy.scheduler import FLIGHT

_HOST = "tres_robots_of"
"""The key of a robots.txt request's meta that holds the host it speaks for, redirected or not."""


class StrictRobots:
    """Stands in the chain of downloader middlewares where the project's own one stood."""

    def __init__(self, crawler: Crawler, own: RobotsTxtMiddleware) -> None:
        assert crawler.engine is not None  # it opens the scheduler
        self._own = own
        self._chain = crawler.engine.downloader.middleware
        self._known: set[str] = set()
        methods = self._chain.methods["process_request"]
        methods[methods.index(own.process_request)] = self.process_request
        methods.appendleft(self._let_robots_pass)
        crawler.signals.connect(self._answered, signals.response_received)

    async def process_request(self, request: Request) -> None:
        """Ask the project's middleware, and take no silence for consent."""
        if FLIGHT not in request.meta:
            return await self._ask(request)
        try:
            await self._ask(request)
        except NamedFailure:
            raise
        except IgnoreRequest as refusal:
            raise RobotsDenied(str(refusal)) from refusal
        host = urlparse_cached(request).netloc
        if host in self._known or request.meta.get("dont_obey_robotstxt"):
            return None
        if not isinstance(self._own._parsers.get(host), Deferred):  # or somebody is asking
            self._own._parsers.pop(host, None)  # it would never ask again
        raise RobotsUnreachable(f"the robots.txt of {host} could not be had")

    async def _ask(self, request: Request) -> None:
        asked = self._chain._handle_mw_method(self._own.process_request, request=request)
        if isawaitable(asked):
            await asked

    def _let_robots_pass(self, request: Request) -> None:
        """The middleware asks for rules only on behalf of a page that has passed already."""
        own = request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt")
        if own and request.url.endswith("/robots.txt"):
            request.meta.setdefault(_HOST, urlparse_cached(request).netloc)
            request.meta["allow_offsite"] = True

    def _answered(self, response: Response, request: Request) -> None:
        host = request.meta.get(_HOST)
        if host is not None and not leaves_unknown(response.status):
            self._known.add(host)


def make_robots_strict(crawler: Crawler) -> StrictRobots | None:
    """Make the robots.txt middleware of a project strict, if the project has one."""
    own = crawler.get_downloader_middleware(RobotsTxtMiddleware)
    return None if own is None else StrictRobots(crawler, own)
