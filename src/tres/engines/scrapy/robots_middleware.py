"""robots.txt, fetched once per origin and obeyed (RFC 9309).

* A 2xx response is read, within limits of size and time; up to five redirects are followed, and the
  whole of it has a time limit, even if a middleware loses or changes the requests.
* 4xx, including 401 and 403, means that there are no rules: everything is allowed.
* 5xx, a timeout or a failed connection means that the rules are unknown: nothing is fetched. The
  site backs off, and the page is retried; after its last attempt it fails as `robots-unreachable`.

The request for robots.txt takes the turn of the page that needed it, so that page waits for another
turn: between robots.txt and the first page lies the site's delay, which that very robots.txt may
just have raised. The rules go into a cache (`tres.engines.politeness.robots_txt`).
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

from tres.engines.politeness.clock import DAY, ServerResponse
from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.politeness.robots_txt import (
    MAX_BYTES,
    RobotsCache,
    RobotsRules,
    leaves_unknown,
    product_token,
)
from tres.engines.scrapy.decompression import decompressed
from tres.engines.scrapy.failures import RETRYABLE, NamedFailure, name_failure
from tres.engines.scrapy.politeness_middleware import (
    politeness_of,
    site_by_of,
    site_of_url,
)
from tres.engines.scrapy.redirects_and_retries import REDIRECTS, redirect_target
from tres.web.page import FailureKind
from tres.web.url import site_of

TIMEOUT = 10.0
MAX_TURN = 60.0
"""Seconds that a page waits here for its turn; the scheduler can wait for longer."""
MAX_REDIRECTS = 5
_RECEIVED = "tres_robots_bytes"
_FAILURES_OF_PAGE_TOO = RETRYABLE | {FailureKind.BLOCKED_ADDRESS, FailureKind.NO_ADDRESS}
"""Failures that the page would have as well."""


class RobotsMiddleware:
    """A downloader middleware that fetches robots.txt and refuses what it forbids."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._politeness = politeness_of(crawler)
        self._token = product_token(crawler.settings["USER_AGENT"])
        self._site_by = site_by_of(crawler)
        self._timeout = min(TIMEOUT, crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._cache = RobotsCache()
        self._asking: dict[str, list[Deferred[NamedFailure | None]]] = {}
        crawler.signals.connect(self._stop_at_limit, signals.bytes_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        return cls(crawler)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of a URL names; none if it is not known yet."""
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
        rules = known or await self._rules(origin, site)
        if rules.delay > DAY or not rules.allows(request.url):
            raise NamedFailure(FailureKind.ROBOTS, "robots.txt says no")
        if known is None:
            await self._wait_for_turn(site)

    async def _rules(self, origin: str, site: str) -> RobotsRules:
        """Fetch the rules, or wait for a request that is fetching them."""
        if origin in self._asking:
            asked: Deferred[NamedFailure | None] = Deferred()
            self._asking[origin].append(asked)
            problem = await maybe_deferred_to_future(asked)
        else:
            problem = await self._fetch_rules(origin, site)
        rules = self._cache.get(origin, monotonic())
        if rules is None:
            raise problem or _unreachable("robots.txt could not be fetched")
        return rules

    async def _fetch_rules(self, origin: str, site: str) -> NamedFailure | None:
        """Fetch the rules into the cache, or return why there are none."""
        self._asking[origin] = []
        problem: NamedFailure | None = None
        try:
            body = await self._fetch_in_time(f"{origin}/robots.txt")
            began = process_time()
            rules = RobotsRules(body, self._token)
            self._politeness.charge_reading(site, process_time() - began, monotonic())
            self._cache.put(origin, rules, monotonic())
            if rules.delay <= DAY:  # a site that asks for more gets no requests at all
                self._politeness.set_crawl_delay(site, rules.delay, monotonic())
        except NamedFailure as reason:
            problem = reason
        finally:
            for waiting in self._asking.pop(origin):
                waiting.callback(problem)
        return problem

    async def _fetch_in_time(self, url: str) -> bytes:
        """Return what `_fetch` does, within a time limit whatever becomes of its requests."""
        from twisted.internet import reactor

        whole = self._timeout * (MAX_REDIRECTS + 1)
        fetching = deferred_from_coro(self._fetch(url)).addTimeout(whole, reactor, _too_late)
        return await maybe_deferred_to_future(fetching)

    async def _fetch(self, url: str) -> bytes:
        """Return the body of a robots.txt, empty if there is none."""
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
            await self._wait_for_turn(site_of(url, self._site_by))
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
        assert engine is not None  # it has sent us the request for a page
        try:
            return await engine.download_async(request)
        except Exception as problem:  # any failure leaves us without rules
            if isinstance(problem, NamedFailure) and problem.kind in _FAILURES_OF_PAGE_TOO:
                raise
            note = name_failure(url, problem).note
            raise _unreachable(f"robots.txt: {note}") from problem

    async def _unpacked(self, url: str, response: Response) -> bytes:
        try:
            plain = await decompressed(response, self._crawler, MAX_BYTES, cut=True)
        except NamedFailure as problem:
            raise _unreachable(f"robots.txt: {problem}") from problem
        return plain.body

    def _refused(self, url: str, response: Response) -> NoReturn:
        """Let the site wait for as long as it asks; else it backs off when the page fails."""
        wait = parse_retry_after(response.headers.get("Retry-After"), time())
        if wait is not None:
            site = site_of(url, self._site_by)
            said = ServerResponse(response.status, retry_after=wait)
            self._politeness.observe(site, monotonic(), said)
        raise _unreachable(f"robots.txt answers HTTP {response.status}")

    async def _wait_for_turn(self, site: str) -> None:
        from twisted.internet import reactor

        now = monotonic()
        wait = self._politeness.next_turn(site, now) - now
        if wait > MAX_TURN:  # the scheduler can wait for it
            note = f"robots.txt asks for {wait:,.0f} seconds before the next page"
            raise NamedFailure(FailureKind.THROTTLED, note)
        self._politeness.take_turn(site, now)
        if wait > 0:
            await maybe_deferred_to_future(deferLater(reactor, wait))

    def _stop_at_limit(self, data: bytes, request: Request) -> None:
        """Stop receiving a robots.txt at its size limit."""
        received = request.meta.get(_RECEIVED)
        if received is None:
            return
        received[0] += len(data)
        if received[0] > MAX_BYTES:
            raise StopDownload(fail=False)


def _unreachable(note: str) -> NamedFailure:
    return NamedFailure(FailureKind.ROBOTS_UNREACHABLE, note)


def _too_late(cancelled: object, seconds: float) -> NoReturn:
    raise _unreachable(f"robots.txt took more than {seconds:.0f} seconds")


def _target(url: str, response: Response) -> str | None:
    """Return where a robots.txt has moved to; None also if it has left the Web."""
    try:
        return redirect_target(url, response) if response.status in REDIRECTS else None
    except NamedFailure:
        return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
