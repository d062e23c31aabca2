"""From Scrapy's responses to the outcomes that the session receives.

A response is read by another process, within limits (`Reader`), compared with the pages that are
known already (`DuplicatesAndTraps`), and becomes a percept or a failure with a name. Every path
through here ends in `Flights.finish`: a fault of the reader costs one page, not the crawl.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from scrapy import Request
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from tres.crawl.events import Stepped
from tres.engines.flights import Flight, Flights
from tres.engines.reading.duplicates_and_traps import DuplicatesAndTraps
from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_pool import Charge
from tres.engines.reading.tasks import Task
from tres.engines.scrapy.capture import EXCHANGE
from tres.engines.scrapy.decompression import encodings_of
from tres.engines.scrapy.failures import name_failure
from tres.engines.scrapy.redirects_and_retries import redirected
from tres.engines.scrapy.sitemaps import SitemapReader
from tres.errors import TresError
from tres.web.page import Failed, FailureKind

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads responses, and does all other work on untrusted bytes, in other processes."""

    charge: Charge

    async def read(self, received: Received) -> Reading: ...

    async def ask(self, task: Task[T]) -> T: ...


FilterLinks = Callable[[Any, Response], Awaitable[Any]]
"""Removes from an outcome the links that must not be followed from this response."""


async def _all_links(outcome: Any, response: Response) -> Any:
    return outcome


class ResponseHandler:
    """Finishes the flights of one crawl."""

    def __init__(
        self,
        flights: Flights,
        reader: Reader,
        memory: DuplicatesAndTraps | None = None,
        redirects: int = 10,
        sitemaps: SitemapReader | None = None,
        filter_links: FilterLinks = _all_links,
    ) -> None:
        self._flights = flights
        self._reader = reader
        self._memory = memory
        self._redirects = redirects
        self._sitemaps = sitemaps
        self._filter_links = filter_links

    async def handle_response(self, flight: Flight, response: Response) -> Any:
        """Finish a flight with a response; return the percept if it was a step of the crawl.

        A page that refreshes to another URL at once is a redirect: its flight goes on, and the
        request for that URL is returned.
        """
        if not 200 <= response.status < 300:
            return self._refused(flight, response)
        try:
            with self._flights.reading(flight):
                read = await self._reader.read(await self._received(flight, response))
            if (onward := self._refresh(read, response)) is not None:
                return onward
            outcome = read.outcome if self._memory is None else self._memory.check(read)
            if not isinstance(outcome, Failed):
                outcome = await self._filter_links(outcome, response)
        except TresError as fault:  # no page can be read any more, or nothing written
            self._flights.fault = fault
            return self._finish(flight, response, None)
        except Exception as fault:
            _log.exception("%r could not be read", flight.url)
            failed = Failed(flight.url, FailureKind.UNREADABLE)
            return self._finish(flight, response, failed, note=f"{type(fault).__name__}: {fault}")
        known = {"title": read.title, "fingerprint": read.fingerprint, "note": read.note}
        return self._finish(flight, response, outcome, size=read.size, **known)

    async def _received(self, flight: Flight, response: Response) -> Received:
        received = _received(flight, response)
        if self._sitemaps is None:
            return received
        return replace(received, sitemap=await self._sitemaps.pages_for(received.url))

    def _refresh(self, read: Reading, response: Response) -> Request | None:
        before = [*response.meta.get("redirect_urls", ()), response.url]
        request = response.request
        if not read.refresh or request is None or len(before) > self._redirects:
            return None
        if read.refresh in before:
            return None  # it refreshes itself: a page that changes, or a loop
        return redirected(request, read.refresh, before)

    def handle_failure(self, flight: Flight, error: BaseException) -> None:
        """Finish a flight without a response."""
        if isinstance(error, HttpError):  # a response that the project's middleware held back
            self._refused(flight, error.response)
            return
        problem = name_failure(flight.url, error)
        fetched = self._flights.fetched(flight, note=problem.note)
        self._flights.finish(flight, problem.failed, fetched)

    def _refused(self, flight: Flight, response: Response) -> None:
        problem = name_failure(flight.url, response)
        self._finish(flight, response, problem.failed, note=problem.note)

    def _finish(self, flight: Flight, response: Response, outcome: Any, **known: Any) -> Any:
        received = {"size": len(response.body), "exchange": response.meta.get(EXCHANGE)}
        status = response.status if response.status < 1000 else 0
        fetched = self._flights.fetched(flight, status=status, **{**received, **known})
        events = self._flights.finish(flight, outcome, fetched)
        if not any(isinstance(event, Stepped) for event in events):
            return None
        if self._memory is not None:
            self._memory.remember(outcome.links.urls, fetched.fingerprint)
        return outcome


def _received(flight: Flight, response: Response) -> Received:
    """Return what the reader needs; the page keeps the URL asked for, unless it was redirected.

    Scrapy escapes some characters of a URL that we do not; that does not make it another page.
    """
    moved = bool(response.meta.get("redirect_urls"))
    url = response.url if moved else flight.url
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    encodings = encodings_of(response)
    return Received(url, response.status, content_type, response.body, encodings=encodings)
