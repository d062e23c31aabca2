"""The only module that uses private names of Scrapy and Twisted.

For each of them no public way exists; the comment at each says why. `tests/engines/scrapy/
test_internals.py` checks every one against the installed versions, says which release broke what,
and keeps private names out of all other modules.

Everything here works with the releases in `tres.engines.scrapy.TESTED_SCRAPY` and Twisted 26.10.
All names exist since Scrapy 2.18; 2.16 lacks the three `_Lenient` classes, 2.13 most of the rest of
the download handler.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ScrapyAgent,
)
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Response
from scrapy.link import Link
from scrapy.spiders import CrawlSpider
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.web._newclient import ParseError
from twisted.web.client import Agent, HTTPConnectionPool, ProxyAgent

__all__ = ["LenientParser", "ParseError"]

T = TypeVar("T")


# The engine: which requests it still works on, and when it asks the scheduler again. Signals tell
# of downloads, but not of requests that a middleware or a signal handler swallows; and without a
# nudge the engine asks again only at its heartbeat, every five seconds.


def requests_in_progress(crawler: Crawler) -> AbstractSet[Request]:
    """Return the requests that the engine has taken from the scheduler and not finished."""
    assert crawler.engine is not None
    slot = crawler.engine._slot
    return slot.inprogress if slot is not None else frozenset()


def wake_engine(crawler: Crawler) -> None:
    """Make the engine ask the scheduler for requests in the next turn of the event loop."""
    assert crawler.engine is not None
    if crawler.engine._slot is not None:
        crawler.engine._slot.nextcall.schedule()


def is_starting(crawler: Crawler) -> bool:
    """May `Spider.start()`, or a middleware around it, still yield requests?

    No signal says when it has ended, and wrapping `Spider.start` would miss the middlewares.
    """
    assert crawler.engine is not None
    return crawler.engine._start is not None


# Spiders of other people's projects. What a CrawlSpider would follow is known to private methods
# only; its setting CRAWLSPIDER_FOLLOW_LINKS is deprecated, and read before a scheduler exists.


def stop_following(spider: CrawlSpider) -> bool:
    """Keep a CrawlSpider from yielding the links of its rules; return whether it did so before."""
    followed, spider._follow_links = spider._follow_links, False
    return followed


def requests_to_follow(spider: CrawlSpider, response: Response) -> Iterable[Request]:
    """Yield the requests that the rules of a CrawlSpider make of the links of a page."""
    return filter(None, spider._requests_to_follow(response))


def request_by_rule(spider: CrawlSpider, rule: int, link: Link) -> Request:
    """Return the request that a rule of a CrawlSpider makes of a link."""
    return spider._build_request(rule, link)


def default_callback(spider: Spider) -> Callable[..., Any]:
    """Return the callback of requests that name none: `parse` only in a plain Spider."""
    return spider._parse


def through_spider_middlewares(
    crawler: Crawler, response: Response, output: AsyncIterator[Any]
) -> AsyncIterator[Any]:
    """Yield what the spider middlewares leave of a callback's output.

    The public `scrape_response_async` would run `process_spider_input` a second time.
    """
    assert crawler.engine is not None
    return crawler.engine.scraper.spidermw._process_spider_output(response, output)


def forget_robots(middleware: RobotsTxtMiddleware, host: str) -> None:
    """Let the middleware ask for a robots.txt again, unless it is asking just now.

    It keeps the failure to get one for ever, and takes it for permission.
    """
    if not isinstance(middleware._parsers.get(host), Deferred):
        middleware._parsers.pop(host, None)


def shared(crawler: Crawler, name: str, make: Callable[[], T]) -> T:
    """Return the one object of this name that belongs to a crawler, made at first use.

    Scrapy builds handlers and middlewares from the crawler alone, so what they share is kept there.
    """
    known: T = crawler.__dict__.setdefault(f"tres_{name}", None) or make()
    crawler.__dict__[f"tres_{name}"] = known
    return known


# Downloads. Scrapy's handler makes its own Twisted agent, from which there is no public way to a
# connection of ours; limits on size and time, signals and responses are in `_ScrapyAgent`.


class AgentHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler over a Twisted agent and a connection pool that it is given."""

    @property
    def tls_policy(self) -> Any:
        """How connections are secured, by Scrapy's settings."""
        return self._contextFactory

    def use_agent(self, agent: Agent | ProxyAgent, pool: HTTPConnectionPool) -> None:
        """Send all requests by this agent; its pool is closed with the handler."""
        self._agent = agent
        self._pool = pool

    async def download_request(self, request: Request) -> Response:
        """Fetch, within the limits of the settings."""
        sender = AgentRequests(
            contextFactory=self._contextFactory,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        sender.agent = self._agent
        with wrap_twisted_exceptions():
            return await maybe_deferred_to_future(sender.download_request(request))


class AgentRequests(_ScrapyAgent):
    """Scrapy's requests and their limits, over one given agent."""

    agent: Agent | ProxyAgent

    def _get_agent(self, request: Request, timeout: float) -> Any:
        return self.agent


# Connections. Twisted chooses parser, protocol and factory itself and has no bound on idle
# connections over all hosts. It does not export `ParseError` either.

LenientParser = _LenientHTTPClientParser
"""Scrapy's parser of status line and headers."""


class ParsingProtocol(_LenientHTTP11ClientProtocol):
    """One connection whose responses are parsed by `parser_class`."""

    parser_class: type[LenientParser] = LenientParser

    def request(self, request: Any) -> Deferred[Any]:
        """Send a request; return its response."""
        response = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = self.parser_class  # as Scrapy does: Twisted fixes the class
        return response


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, make: Callable[[Any], ParsingProtocol], *known: Any) -> None:
        super().__init__(*known)  # type: ignore[no-untyped-call]
        self._make = make

    def buildProtocol(self, addr: Any) -> ParsingProtocol:  # noqa: N802
        return self._make(self._quiescentCallback)


class BoundedPool(HTTPConnectionPool):
    """Twisted's pool of open connections, with a bound on all that are idle."""

    def __init__(
        self, reactor: Any, most_idle: int, make: Callable[[Any], ParsingProtocol]
    ) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self._most_idle = most_idle
        self._factory = lambda *known: _Factory(make, *known)  # type: ignore[assignment]

    def _putConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        if len(self._timeouts) > self._most_idle:
            oldest = min(self._timeouts, key=lambda idle: self._timeouts[idle].getTime())
            self._timeouts[oldest].reset(0)

    def _removeConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        if not self._connections[key]:
            del self._connections[key]
