"""A response from its first byte to the journal, without a network: for `benchmarks/fuzz.py`.

The bytes go through the same code as in a live crawl: Twisted's HTTP client with our limits,
Scrapy's download handler, the reader, and a line of the journal. Only sockets, scheduler and the
process boundary are left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.logger import globalLogPublisher
from twisted.python.failure import Failure
from twisted.web._newclient import Request as SentRequest
from twisted.web.client import URI
from twisted.web.http_headers import Headers

from tres.crawl.events import FetchFailed
from tres.engines.flights import Flight
from tres.engines.protocols import Fetched
from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.engines.reading.tasks import ReadPage, perform
from tres.engines.scrapy.capture import EXCHANGE, CaptureMiddleware
from tres.engines.scrapy.connections import ConnectionPool
from tres.engines.scrapy.failures import name_failure
from tres.engines.scrapy.internals import AgentRequests
from tres.engines.scrapy.response_handler import ResponseHandler
from tres.store.journal_tables import FAILURES_TABLE, failure_values
from tres.web.page import Failed, FailureKind

MAX_BYTES = 100_000


class Wire:
    """Reads responses, each as if it had come over its own connection."""

    def __init__(self, url: str, reader: PageReader) -> None:
        self._url = url
        self._answers = ResponseHandler(_Landing(), _Inline(reader))  # type: ignore[arg-type]
        self._crawler = Crawler(Spider)
        self._capture = CaptureMiddleware()

    def read(self, data: bytes) -> None:
        """Process a response completely; raise what is unexpected."""
        request = Request(self._url)
        with nothing_logged():
            came = self._downloaded(data, request)
        if isinstance(came, Failure):
            problem = name_failure(self._url, came)
            assert problem.failed.kind is not FailureKind.UNREADABLE, problem.note
            return
        came.request = request
        self._capture.process_response(request, came)
        if EXCHANGE in request.meta:
            assert request.meta[EXCHANGE].response_head.count(b"\r\n\r\n") == 1, "two ends"
        flight = Flight(self._url, "example.org", 0.0, 0.0)
        _completed(self._answers.handle_response(flight, came))

    def _downloaded(self, data: bytes, request: Request) -> Response | Failure:
        """Return Scrapy's response to bytes that arrive in two pieces before the end."""
        limits = {"maxsize": MAX_BYTES, "warnsize": 0, "fail_on_dataloss": True}
        agent = AgentRequests(contextFactory=None, crawler=self._crawler, **limits)  # type: ignore[arg-type]
        connection = _Connection()
        agent.agent = connection  # type: ignore[assignment]
        came: list[Any] = []
        agent.download_request(request).addBoth(came.append)
        connection.receive(data)
        if isinstance(came[0], Failure):
            came[0] = _wrapped(came[0])
        result: Response | Failure = came[0]
        return result


class _Connection:
    """A connection that is opened, gets one request, and is fed."""

    def __init__(self) -> None:
        pool = ConnectionPool(None, 1, lambda url: None)
        self._protocol = pool._factory(lambda protocol: None, "").buildProtocol(None)  # type: ignore[call-arg]
        transport: Any = StringTransport()
        transport.abortConnection = transport.loseConnection
        self._protocol.makeConnection(transport)

    def request(self, method: bytes, url: bytes, headers: object, body: object) -> Any:
        """As Twisted's agent does it."""
        sent = SentRequest._construct(
            *(method, b"/", Headers({b"host": [b"example.org"]}), None),
            persistent=True,
            parsedURI=URI.fromBytes(url),  # type: ignore[no-untyped-call]
        )
        return self._protocol.request(sent)

    def receive(self, data: bytes) -> None:
        """Deliver all bytes, then close."""
        middle = len(data) // 3
        self._protocol.dataReceived(data[:middle])
        self._protocol.dataReceived(data[middle:])
        self._protocol.connectionLost(Failure(ConnectionDone()))


class _Inline:
    """A reader in this process; messages are checked as between processes."""

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader

    async def read(self, received: Received) -> Reading:
        task = ReadPage(received)
        return task.decode(perform(self._reader, task.message()))


class _Landing:
    """Writes the outcome of a response into a journal's table; raises faults."""

    def __init__(self) -> None:
        self._journal = sqlite3.connect(":memory:")
        self._journal.execute(FAILURES_TABLE.creation)

    @contextmanager
    def reading(self, flight: Flight) -> Iterator[None]:
        yield

    def fetched(self, flight: Flight, **facts: Any) -> Fetched:
        return Fetched(flight.at, 0.0, **facts)

    def finish(self, flight: Flight, outcome: object, told: Fetched) -> list[Any]:
        kind = outcome.kind if isinstance(outcome, Failed) else FailureKind.HTTP_ERROR
        assert kind is not FailureKind.UNREADABLE, told.note
        values = failure_values(FetchFailed(flight.url, kind, False), told)
        FAILURES_TABLE.add(self._journal, 1, values)
        self._journal.rollback()
        return []


def _wrapped(failure: Failure) -> Failure:
    try:
        with wrap_twisted_exceptions():
            failure.raiseException()
    except Exception:
        return Failure()
    raise AssertionError("a failure without an exception")


def _completed(work: Any) -> None:
    """Run a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits")


@contextmanager
def nothing_logged() -> Iterator[None]:
    """Count what Twisted catches and only logs as a finding."""
    logged: list[Failure] = []

    def note(event: dict[str, Any]) -> None:
        if "log_failure" in event:
            logged.append(event["log_failure"])

    globalLogPublisher.addObserver(note)
    try:
        yield
    finally:
        globalLogPublisher.removeObserver(note)
    if logged:
        logged[0].raiseException()
