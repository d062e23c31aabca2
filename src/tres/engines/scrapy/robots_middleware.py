"""Robots.txt, asked for once per origin and obeyed (RFC 9309).

* An answer of 2xx is read, within limits of size and time; up to five redirects are followed,
  and the whole of it has an end as well, even if a middleware loses or changes the requests.
* 4xx, also 401 and 403, means that there are no rules: all is allowed.
* 5xx, no answer in time or no connection means that nobody knows the rules: nothing is fetched.
  The site backs off as any that fails, and the page is retried; with its last attempt it fails
  as `robots-unreachable`.

The request for robots.txt takes the turn of the page that needed it. So whoever had to wait for it
takes another turn: between robots.txt and the first page lies the site's delay, which that very
robots.txt may just have raised. The rules go into a cache (`tres.engines.politeness.robots_cache`).
"""

from __future__ import annotations

from time import monotonic, process_time, time
from typing import NoReturn
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from tres.engines.politeness.clock import DAY
from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.politeness.robots_cache import RobotsCache
from tres.engines.politeness.robots_txt import MAX_BYTES, RobotsRules, leaves_unknown, product_token
from tres.engines.scrapy.decompression import unpacked
from tres.engines.scrapy.failures import (
    BlockedAddress,
    BlockedRedirect,
    NamedFailure,
    NoAddress,
    ProxyUnreachable,
    RobotsDenied,
    RobotsUnreachable,
    SiteDown,
    SlowSite,
    named,
)
from tres.engines.scrapy.politeness_middleware import politeness_of, site_of_url
from tres.engines.scrapy.redirect_middleware import REDIRECTS, redirect_target
from tres.web.url import SiteBy, site_of

TIMEOUT = 10.0
MAX_TURN = 60.0
"""Seconds that a page waits here for its turn; the scheduler can wait for longer."""
MAX_REDIRECTS = 5
_RECEIVED = "tres_robots_bytes"


class RobotsMiddleware:
    """A downloader middleware in front of all others."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._politeness = politeness_of(crawler)
        self._token = product_token(crawler.settings["USER_AGENT"])
        self._site_by: SiteBy = crawler.settings.get("TRES_SITE") or "host"
        self._timeout = min(TIMEOUT, crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._cache = RobotsCache()
        self._asking: dict[str, list[Deferred[NamedFailure | None]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        robots = cls(crawler)
        crawler.signals.connect(robots._enough, signals.bytes_received)
        return robots

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the robots.txt of a URL names, as far as it is known by now."""
        rules = self._cache.get(_origin(url), monotonic())
        return rules.sitemaps if rules else ()

    async def process_request(self, request: Request) -> None:
        """Let a request pass, or say why not."""
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith("http"):
            return
        origin = _origin(request.url)
        if request.url == f"{origin}/robots.txt":  # allowed by itself, and perhaps our own
            return
        site = site_of_url(request.url, self._site_by)
        known = self._cache.get(origin, monotonic())
        rules = known or await self._learn(origin, site)
        if rules.delay > DAY or not rules.allows(request.url):
            raise RobotsDenied("robots.txt says no")
        if known is None:
            await self._turn(site)

    async def _learn(self, origin: str, site: str) -> RobotsRules:
        """Ask for the rules, or wait for whoever is asking."""
        if origin in self._asking:
            asked: Deferred[NamedFailure | None] = Deferred()
            self._asking[origin].append(asked)
            problem = await maybe_deferred_to_future(asked)
        else:
            problem = await self._ask(origin, site)
        rules = self._cache.get(origin, monotonic())
        if rules is None:
            raise problem or RobotsUnreachable("robots.txt cannot be had")
        return rules

    async def _ask(self, origin: str, site: str) -> NamedFailure | None:
        """Ask for the rules and put them into the cache, or say why there are none."""
        self._asking[origin] = []
        problem: NamedFailure | None = None
        try:
            body = await self._fetched(f"{origin}/robots.txt")
            began = process_time()
            rules = RobotsRules(body, self._token)
            self._politeness.read(site, process_time() - began, monotonic())
            self._cache.put(origin, rules, monotonic())
            if rules.delay <= DAY:  # who asks for more is not asked at all
                self._politeness.crawl_delay(site, rules.delay, monotonic())
        except NamedFailure as reason:
            problem = reason
        finally:
            for waiting in self._asking.pop(origin):
                waiting.callback(problem)
        return problem

    async def _fetched(self, url: str) -> bytes:
        """What `_fetch` gives, in time: whatever becomes of its requests, nobody waits for ever."""
        from twisted.internet import reactor

        whole = self._timeout * (MAX_REDIRECTS + 1)
        fetching = deferred_from_coro(self._fetch(url)).addTimeout(whole, reactor, _too_late)
        return await maybe_deferred_to_future(fetching)

    async def _fetch(self, url: str) -> bytes:
        """The body of a robots.txt; empty if there is none."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._download(url)
            if leaves_unknown(response.status):
                self._refused(url, response)
            if 200 <= response.status < 300:
                return await self._unpacked(url, response)
            target = _target(url, response)
            if target is None:
                break
            url = target
            await self._turn(site_of(url, self._site_by))
        return b""

    async def _download(self, url: str) -> Response:
        meta = {
            "dont_obey_robotstxt": True,
            "dont_redirect": True,
            "dont_retry": True,
            "download_timeout": self._timeout,
            _RECEIVED: [0],
        }
        request = Request(url, callback=NO_CALLBACK, meta=meta, priority=1000)
        engine = self._crawler.engine
        assert engine is not None  # it has sent us the request of a page
        try:
            return await engine.download_async(request)
        except (BlockedAddress, NoAddress, ProxyUnreachable, SiteDown):
            raise  # the page would fail in the same way
        except Exception as problem:  # whatever it is, it has a name and leaves us without rules
            reason = named(url, problem)
            raise RobotsUnreachable(f"robots.txt: {reason.note}") from problem

    async def _unpacked(self, url: str, response: Response) -> bytes:
        try:
            plain = await unpacked(response, self._crawler, MAX_BYTES, cut=True)
        except NamedFailure as problem:
            raise RobotsUnreachable(f"robots.txt: {problem}") from problem
        return plain.body

    def _refused(self, url: str, response: Response) -> NoReturn:
        """Not now: the site waits for as long as it says, or backs off as the page fails."""
        wait = parse_retry_after(response.headers.get("Retry-After"), time())
        if wait is not None:
            site = site_of(url, self._site_by)
            self._politeness.observe(site, monotonic(), status=response.status, retry_after=wait)
        raise RobotsUnreachable(f"robots.txt answers HTTP {response.status}")

    async def _turn(self, site: str) -> None:
        from twisted.internet import reactor

        now = monotonic()
        wait = self._politeness.next_turn(site, now) - now
        if wait > MAX_TURN:  # the turn is left to the scheduler
            raise SlowSite(f"robots.txt asks for {wait:,.0f} seconds before the next page")
        self._politeness.turn(site, now)
        if wait > 0:
            await maybe_deferred_to_future(deferLater(reactor, wait))

    def _enough(self, data: bytes, request: Request) -> None:
        """What lies behind the limit of a robots.txt is not even received."""
        received = request.meta.get(_RECEIVED)
        if received is None:
            return
        received[0] += len(data)
        if received[0] > MAX_BYTES:
            raise StopDownload(fail=False)


def _too_late(cancelled: object, seconds: float) -> NoReturn:
    raise RobotsUnreachable(f"robots.txt took more than {seconds:.0f} seconds")


def _target(url: str, response: Response) -> str | None:
    """Where a robots.txt has moved to; one that has moved out of the Web is no longer there."""
    try:
        return redirect_target(url, response) if response.status in REDIRECTS else None
    except BlockedRedirect:
        return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
