"""From what Scrapy answers to what the crawl is told.

A response is read (`Reader`: bytes to percept, elsewhere and within limits), held against the
pages that are known already, and lands as a percept or as a failure with a name. Every path
through here ends in `Flights.land`: a fault of the reader costs one page, not the crawl.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from scrapy import Request
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from tres.crawl.events import Stepped
from tres.engines.flights import Flight, Flights
from tres.engines.reading.page_reader import Received
from tres.engines.reading.reader_pool import Charge
from tres.engines.reading.tasks import Task
from tres.engines.scrapy.decompression import encodings_of
from tres.engines.scrapy.failures import named
from tres.errors import TresError
from tres.web.page import Failed, FailureKind

EXCHANGE = "tres_exchange"
"""The key of a response's meta that holds the exchange as it went over the wire."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Read(Protocol):
    """What was read: `outcome` is a failure, or whatever the crawl beside the reader takes."""

    @property
    def outcome(self) -> Any: ...

    @property
    def title(self) -> str: ...

    @property
    def fingerprint(self) -> int | None: ...

    @property
    def note(self) -> str: ...

    @property
    def refresh(self) -> str | None: ...

    @property
    def size(self) -> int: ...


class Reader(Protocol):
    """Reads what was received, and does what else is to be done with strangers' bytes; slowly
    perhaps, and elsewhere."""

    charge: Charge

    async def read(self, received: Received) -> Read: ...

    async def ask(self, task: Task[T]) -> T: ...


class Memory(Protocol):
    """Checks pages against those read before (`tres.engines.reading.duplicates_and_traps`)."""

    def check(self, reading: Any) -> Any: ...

    def remember(self, links: Iterable[str], fingerprint: int | None) -> None: ...


class Sitemaps(Protocol):
    """Knows what else a site has, when a page of it is read first."""

    async def listed(self, url: str) -> tuple[str, ...]: ...


Admit = Callable[[Any, Response], Awaitable[Any]]
"""Takes from what was read the links that must not be followed from this response."""


async def _everything(outcome: Any, response: Response) -> Any:
    return outcome


class ResponseHandler:
    """Lands the flights of one crawl."""

    def __init__(
        self,
        flights: Flights,
        reader: Reader,
        memory: Memory | None = None,
        redirects: int = 10,
        sitemaps: Sitemaps | None = None,
        admit: Admit = _everything,
    ) -> None:
        self._flights = flights
        self._reader = reader
        self._memory = memory
        self._redirects = redirects
        self._sitemaps = sitemaps
        self._admit = admit

    async def page(self, flight: Flight, response: Response) -> Any:
        """Land with a response; the percept, if it has become a step of the crawl.

        A page that sends its readers elsewhere at once is a redirect: it does not land, and
        the request for where it leads is given back.
        """
        if not 200 <= response.status < 300:
            return self._refused(flight, response)
        try:
            with self._flights.reading(flight):
                read = await self._reader.read(await self._received(flight, response))
            if (onward := self._onward(read, response)) is not None:
                return onward
            outcome = read.outcome if self._memory is None else self._memory.check(read)
            if not isinstance(outcome, Failed):
                outcome = await self._admit(outcome, response)
        except TresError as fault:  # no page can be read any more, or nothing be written
            self._flights.fault = fault
            return self._land(flight, response, None)
        except Exception as fault:
            _log.exception("%r could not be read", flight.url)
            failed = Failed(flight.url, FailureKind.UNREADABLE)
            return self._land(flight, response, failed, note=f"{type(fault).__name__}: {fault}")
        told = {"title": read.title, "fingerprint": read.fingerprint, "note": read.note}
        return self._land(flight, response, outcome, size=read.size, **told)

    async def _received(self, flight: Flight, response: Response) -> Received:
        received = _received(flight, response)
        if self._sitemaps is None:
            return received
        return replace(received, sitemap=await self._sitemaps.listed(received.url))

    def _onward(self, read: Read, response: Response) -> Request | None:
        before = [*response.meta.get("redirect_urls", ()), response.url]
        request = response.request
        if not read.refresh or request is None or len(before) > self._redirects:
            return None
        if read.refresh in before:
            return None  # it refreshes itself: a page that changes, or a loop
        return request.replace(url=read.refresh, meta={**request.meta, "redirect_urls": before})

    def failure(self, flight: Flight, error: BaseException) -> None:
        """Land without a page."""
        if isinstance(error, HttpError):  # a response that the project's middleware kept back
            self._refused(flight, error.response)
            return
        problem = named(flight.url, error)
        self._flights.land(flight, problem.failed, self._flights.told(flight, note=problem.note))

    def _refused(self, flight: Flight, response: Response) -> None:
        problem = named(flight.url, response)
        self._land(flight, response, problem.failed, note=problem.note)

    def _land(self, flight: Flight, response: Response, outcome: Any, **told: Any) -> Any:
        sent = {"size": len(response.body), "exchange": response.meta.get(EXCHANGE)}
        status = response.status if response.status < 1000 else 0
        fetched = self._flights.told(flight, status=status, **{**sent, **told})
        events = self._flights.land(flight, outcome, fetched)
        if not any(isinstance(event, Stepped) for event in events):
            return None
        if self._memory is not None:
            self._memory.remember(outcome.links.urls, fetched.fingerprint)
        return outcome


def _received(flight: Flight, response: Response) -> Received:
    """The page keeps the URL that was asked for unless a redirect has led elsewhere.

    Scrapy escapes some characters of a URL that we do not; that makes no other page of it.
    """
    moved = bool(response.meta.get("redirect_urls"))
    url = response.url if moved else flight.url
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    encodings = encodings_of(response)
    return Received(url, response.status, content_type, response.body, encodings=encodings)
