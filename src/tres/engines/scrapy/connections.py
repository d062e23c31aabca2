"""Open connections, and limits on what comes over them.

Idle connections are bounded in number and age, because a crawl meets more sites than a process may
have sockets. Headers are bounded as bodies are: a server that never stops sending header lines is
cut off. Nothing is sent twice behind the scheduler's back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred

from tres.engines.network.open_files import max_connections
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.internals import BoundedPool, LenientParser, ParseError, ParsingProtocol
from tres.web.page import FailureKind

OnSent = Callable[[str], None]

MAX_HEAD = 65_536
IDLE_CONNECTIONS = 256
IDLE_SECONDS = 60


class BoundedParser(LenientParser):
    """A response parser that accepts only so many bytes of headers."""

    head = 0

    def lineReceived(self, line: bytes) -> None:  # noqa: N802
        self.head += len(line) + 2
        if self.head > MAX_HEAD:
            raise NamedFailure(FailureKind.TOO_LARGE, f"more than {MAX_HEAD:,} bytes of headers")
        super().lineReceived(line)

    def statusReceived(self, status: bytes) -> None:  # noqa: N802
        """Refuse a protocol name that is not ASCII: Scrapy would decode it as text and fail."""
        if not status.partition(b" ")[0].isascii():
            raise ParseError("no HTTP version", status)  # type: ignore[no-untyped-call]
        super().statusReceived(status)  # type: ignore[no-untyped-call]


class Connection(ParsingProtocol):
    """One connection; `on_sent` gets the URL of each request at the moment it is sent."""

    parser_class = BoundedParser

    def __init__(self, on_sent: OnSent, quiescent: Any) -> None:
        super().__init__(quiescent)  # type: ignore[no-untyped-call]
        self.on_sent = on_sent

    def request(self, request: Any) -> Deferred[Any]:
        self.on_sent(request.absoluteURI.decode("ascii"))
        return super().request(request)


class ConnectionPool(BoundedPool):
    """Keeps connections open, but not those of every site that was ever asked."""

    def __init__(self, reactor: Any, per_host: int, on_sent: OnSent) -> None:
        super().__init__(
            reactor, min(IDLE_CONNECTIONS, max_connections()), partial(Connection, on_sent)
        )
        self.maxPersistentPerHost = per_host
        self.cachedConnectionTimeout = IDLE_SECONDS
        self.retryAutomatically = False  # every attempt goes through the scheduler, in its turn
