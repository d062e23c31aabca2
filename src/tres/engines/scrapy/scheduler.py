"""The scheduler: Scrapy asks it for requests, and it asks the session for URLs.

A Request is made only for a URL that the session has chosen; there is no queue of links here. The
redirects and retries that Scrapy sends back are further hops of the same flight: they wait here
until their site is ready, and come before any new flight.

Scrapy loses requests in ways that call neither callback nor errback: a handler of
`request_scheduled` refuses a redirect, a middleware answers with a request of its own, a spider is
closed while hops wait. So the scheduler keeps the present Request of every flight. Whenever Scrapy
asks for more, a flight whose Request neither waits here nor is in Scrapy's hands fails as dropped.

When no request may start, Scrapy would ask again at its heartbeat, after five seconds; a timer
wakes it as soon as politeness allows the next request, or orders are to be looked for.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.asyncio import CallLaterResult, call_later

from tres.engines.flights import Flight, Flights
from tres.engines.scrapy.failures import NamedProblem
from tres.engines.scrapy.internals import requests_in_progress, wake_engine
from tres.engines.scrapy.politeness_middleware import server_response_of
from tres.engines.scrapy.redirects_and_retries import LAST_FAILURE
from tres.engines.scrapy.response_handler import ResponseHandler
from tres.web.page import FailureKind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

FLIGHT = "tres_flight"
"""The key of a request's meta that holds the URL which the session asked for."""
SLOT = "download_slot"
TICK = 0.001
"""Seconds that a timer runs at least: one that fires a little early must not spin."""


class CrawlScheduler(BaseScheduler):
    """Gives Scrapy one request for every URL that was chosen."""

    def __init__(
        self, crawler: Crawler, flights: Flights, responses: ResponseHandler, max_hop_wait: float
    ) -> None:
        self._crawler = crawler
        self._flights = flights
        self._responses = responses
        self._max_hop_wait = max_hop_wait
        self._hops: list[Request] = []
        self._requests: dict[Flight, Request] = {}
        self._timer: CallLaterResult | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler of a crawl that `tres.engines.scrapy.live_loop` has set up."""
        live: Any = crawler.spider
        return cls(crawler, live.flights, live.responses, live.max_hop_wait)

    def open(self, spider: Spider) -> None:
        """Connect to Scrapy's signals."""
        self._flights.wake = self._wake
        connect = self._crawler.signals.connect
        connect(self._on_reached_downloader, signals.request_reached_downloader)
        connect(self._on_downloaded, signals.response_downloaded)
        connect(self._on_idle, signals.spider_idle)

    def close(self, reason: str) -> Deferred[None] | None:
        """Fail the flights that Scrapy will not finish any more."""
        self._cancel_timer()
        for flight in self._flights:
            self._drop(flight, f"the crawl was closed ({reason})", retryable=True)
        return None

    def has_pending_requests(self) -> bool:
        """Is there more to come? If not, Scrapy closes the spider."""
        return not self._flights.over

    def enqueue_request(self, request: Request) -> bool:
        """Take a redirect or a retry, which is one more hop of its flight."""
        flight = self._flights.get(request.meta.get(FLIGHT))
        if flight is None:
            return False
        failure: NamedProblem | None = request.meta.get(LAST_FAILURE)
        unanswered = flight.reached_downloader and flight.response is None
        lost = FailureKind.NO_CONNECTION if unanswered else None
        self._flights.end_hop(flight, lost if failure is None else failure.failed.kind)
        request.meta[SLOT] = self._flights.site_of(request.url)
        self._requests[flight] = request
        self._hops.append(request)
        return True

    def next_request(self) -> Request | None:
        """Return a hop whose site is ready, or a new flight's request; None if all must wait."""
        self._fail_lost()
        request = self._next_hop() or self._next_flight_request()
        if request is None:
            self._set_timer()
        return request

    def _next_hop(self) -> Request | None:
        for request in list(self._hops):
            flight = self._flights.get(request.meta[FLIGHT])
            wait = self._flights.ready_in(request.meta[SLOT])
            if flight is not None and self._flights.is_blocked(request.meta[SLOT]):
                self._flights.fail(flight, FailureKind.SITE_BLOCKED, request.meta[SLOT])
                flight = None
            if flight is not None and wait == 0:
                self._hops.remove(request)
                self._flights.start_hop(flight, request.meta[SLOT])
                request.meta.pop(LAST_FAILURE, None)
                return request
            if flight is not None and self._max_hop_wait < wait < inf:
                self._give_up(flight, request, wait)
            if self._flights.get(request.meta[FLIGHT]) is None:
                self._hops.remove(request)
        return None

    def _give_up(self, flight: Flight, request: Request, wait: float) -> None:
        """Fail a hop that would wait too long; a retry fails as its last attempt did."""
        failure: NamedProblem | None = request.meta.get(LAST_FAILURE)
        kind = FailureKind.THROTTLED if failure is None else failure.failed.kind
        note = f"{request.meta[SLOT]} must wait for {wait:.0f} more seconds"
        note = note if failure is None else f"{failure.note}; {note}"
        self._flights.fail(flight, kind, note, retryable=True)

    def _next_flight_request(self) -> Request | None:
        flight = self._flights.choose()
        if flight is None:
            return None
        request = self._requests[flight] = self._request(flight)
        return request

    def _request(self, flight: Flight) -> Request:
        """Make a request for the URL as it is: Scrapy would escape more than browsers do."""
        return Request(
            flight.url,
            callback=self.on_response,
            errback=self.on_failure,
            dont_filter=True,
            meta={FLIGHT: flight.url, SLOT: flight.site, "verbatim_url": True},
        )

    def on_response(self, response: Response) -> Any:
        """Scrapy's callback: finish the flight; any status comes here."""
        return self._handle(response)

    async def _handle(self, response: Response) -> Request | None:
        """Finish the flight, or return the request of its next hop; there are no items."""
        flight = self._flights.get(response.meta.get(FLIGHT))
        if flight is None:
            return None
        result = await self._responses.handle_response(flight, response)
        return result if isinstance(result, Request) else None

    def on_failure(self, failure: Any) -> None:
        """Scrapy's errback: there is no response, or the middlewares held it back."""
        flight = self._flights.get(failure.request.meta.get(FLIGHT))
        if flight is not None:
            self._responses.handle_failure(flight, failure.value)

    def _on_reached_downloader(self, request: Request) -> None:
        """Note that a hop goes to its server; until then robots.txt may have held it back."""
        if (flight := self._flights.get(request.meta.get(FLIGHT))) is not None:
            flight.reached_downloader = True

    def _on_downloaded(self, response: Response, request: Request) -> None:
        """Note what a server said; all hops pass here, redirects included."""
        if (flight := self._flights.get(request.meta.get(FLIGHT))) is not None:
            flight.response = server_response_of(response, request)

    def _on_idle(self) -> None:
        raise CloseSpider(str(self._flights.reason or "fault"))

    def _fail_lost(self) -> None:
        """Fail the flights whose request Scrapy no longer works on."""
        handled = requests_in_progress(self._crawler)
        for flight, request in list(self._requests.items()):
            if self._flights.get(flight.url) is not flight:
                del self._requests[flight]
            elif request not in handled and request not in self._hops:
                self._drop(flight, "a middleware or an extension took the request away")

    def _drop(self, flight: Flight, note: str, retryable: bool = False) -> None:
        self._flights.fail(flight, FailureKind.DROPPED, note, retryable)

    def _set_timer(self) -> None:
        """Wake Scrapy when the first site becomes ready that a hop or a new flight waits for."""
        waits = [self._flights.ready_in(request.meta[SLOT]) for request in self._hops]
        wait = min([*waits, self._flights.wakes_in()])
        self._cancel_timer()
        if isfinite(wait):
            self._timer = call_later(max(wait, TICK), self._wake)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        wake_engine(self._crawler)
