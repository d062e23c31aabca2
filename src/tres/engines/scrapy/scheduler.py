"""The scheduler that Scrapy asks for requests, and that asks the crawl for URLs.

A Request is made only for a URL that the crawl has chosen; there is no queue of links here.
What Scrapy sends back (redirects and retries of such a request) are further hops of the same
flight: they wait here until their site is ready, and before any new flight takes off.

Scrapy loses requests in ways that call neither callback nor errback: a listener of
`request_scheduled` refuses a redirect, a middleware answers with a request of its own, a spider
is closed while hops wait. So each flight knows the Request that carries it now, and whenever
Scrapy asks for more, a flight whose Request is neither waiting here nor in Scrapy's hands is
brought home as dropped.

When nothing can be asked for, Scrapy would look again after its heartbeat of five seconds; a
timer wakes it at the moment at which politeness allows the next request, or an order is due to be
looked for.
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
from tres.engines.scrapy.failures import Named
from tres.engines.scrapy.politeness_middleware import PROBLEM, server_response_of
from tres.engines.scrapy.response_handler import ResponseHandler
from tres.web.page import FailureKind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

FLIGHT = "tres_flight"
"""The key of a request's meta that holds the URL which the crawl asked for."""
SLOT = "download_slot"
TICK = 0.001
"""Seconds that a timer runs at least: one that fires a little early must not spin."""


class CrawlScheduler(BaseScheduler):
    """Gives Scrapy one request for every URL that was chosen."""

    def __init__(
        self, crawler: Crawler, flights: Flights, answers: ResponseHandler, patience: float
    ):
        self._crawler = crawler
        self._flights = flights
        self._answers = answers
        self._patience = patience
        self._hops: list[Request] = []
        self._carriers: dict[Flight, Request] = {}
        self._timer: CallLaterResult | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The scheduler of a crawl that `tres.engines.scrapy.live_loop` has set up."""
        live: Any = crawler.spider
        return cls(crawler, live.flights, live.answers, live.patience)

    def open(self, spider: Spider) -> None:
        """Listen to what Scrapy tells everybody."""
        self._flights.wake = self._wake
        connect = self._crawler.signals.connect
        connect(self._reached, signals.request_reached_downloader)
        connect(self._answered, signals.response_downloaded)
        connect(self._idle, signals.spider_idle)

    def close(self, reason: str) -> Deferred[None] | None:
        """Bring home what Scrapy will never answer now."""
        self._disarm()
        for flight in self._flights:
            self._drop(flight, f"the crawl was closed ({reason})", retryable=True)
        return None

    def has_pending_requests(self) -> bool:
        """Is there more to come? Scrapy closes the spider when there is not."""
        return not self._flights.over

    def enqueue_request(self, request: Request) -> bool:
        """A redirect or a retry: one more hop of its flight."""
        flight = self._flights.get(request.meta.get(FLIGHT))
        if flight is None:
            return False
        problem: Named | None = request.meta.get(PROBLEM)
        lost = FailureKind.NO_CONNECTION if flight.reached and flight.answer is None else None
        self._flights.back(flight, lost if problem is None else problem.failed.kind)
        request.meta[SLOT] = self._flights.site(request.url)
        self._carriers[flight] = request
        self._hops.append(request)
        return True

    def next_request(self) -> Request | None:
        """A hop whose site is ready, or else a new flight; None if everything must wait."""
        self._bring_home_lost()
        request = self._next_hop() or self._take_off()
        if request is None:
            self._arm()
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
                self._flights.depart(flight, request.meta[SLOT])
                request.meta.pop(PROBLEM, None)
                return request
            if flight is not None and self._patience < wait < inf:
                self._lose_patience(flight, request, wait)
            if self._flights.get(request.meta[FLIGHT]) is None:
                self._hops.remove(request)
        return None

    def _lose_patience(self, flight: Flight, request: Request, wait: float) -> None:
        """A retry fails as its last attempt did; any other hop because its site must rest."""
        problem: Named | None = request.meta.get(PROBLEM)
        kind = FailureKind.THROTTLED if problem is None else problem.failed.kind
        note = f"{request.meta[SLOT]} must rest for {wait:.0f} more seconds"
        told = note if problem is None else f"{problem.note}; {note}"
        self._flights.fail(flight, kind, told, retryable=True)

    def _take_off(self) -> Request | None:
        flight = self._flights.choose()
        if flight is None:
            return None
        request = self._carriers[flight] = self._request(flight)
        return request

    def _request(self, flight: Flight) -> Request:
        """For the very URL: it is canonical, and Scrapy would escape more than browsers do."""
        return Request(
            flight.url,
            callback=self.arrived,
            errback=self.failed,
            dont_filter=True,
            meta={FLIGHT: flight.url, SLOT: flight.site, "verbatim_url": True},
        )

    def arrived(self, response: Response) -> Any:
        """Scrapy's callback: a response, whatever its status."""
        return self._landed(response)

    async def _landed(self, response: Response) -> Request | None:
        """Land its flight, or send it on; there is nothing else for Scrapy to scrape."""
        flight = self._flights.get(response.meta.get(FLIGHT))
        if flight is None:
            return None
        result = await self._answers.page(flight, response)
        return result if isinstance(result, Request) else None

    def failed(self, failure: Any) -> None:
        """Scrapy's errback: no response, or none that the middlewares let through."""
        flight = self._flights.get(failure.request.meta.get(FLIGHT))
        if flight is not None:
            self._answers.failure(flight, failure.value)

    def _reached(self, request: Request) -> None:
        """A hop goes to its server; before that, robots.txt may have kept it back."""
        if (flight := self._flights.get(request.meta.get(FLIGHT))) is not None:
            flight.reached = True

    def _answered(self, response: Response, request: Request) -> None:
        """A server has answered: here all hops are seen, also those that lead elsewhere."""
        if (flight := self._flights.get(request.meta.get(FLIGHT))) is not None:
            flight.answer = server_response_of(response, request)

    def _idle(self) -> None:
        raise CloseSpider(str(self._flights.reason or "fault"))

    def _bring_home_lost(self) -> None:
        """Land the flights whose request has left Scrapy without a word."""
        handled = self._crawler.engine._slot.inprogress if self._crawler.engine._slot else set()
        for flight, request in list(self._carriers.items()):
            if self._flights.get(flight.url) is not flight:
                del self._carriers[flight]
            elif request not in handled and request not in self._hops:
                self._drop(flight, "a middleware or an extension took the request away")

    def _drop(self, flight: Flight, note: str, retryable: bool = False) -> None:
        self._flights.fail(flight, FailureKind.DROPPED, note, retryable)

    def _arm(self) -> None:
        """Wake Scrapy when the first site becomes ready that something waits for."""
        waits = [self._flights.ready_in(request.meta[SLOT]) for request in self._hops]
        wait = min([*waits, self._flights.wakes_in()])
        self._disarm()
        if isfinite(wait):
            self._timer = call_later(max(wait, TICK), self._wake)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        if self._crawler.engine._slot is not None:
            self._crawler.engine._slot.nextcall.schedule()
