"""Connections that are kept open, and what may come over them.

Idle connections are bounded in number and age, for a crawl meets more sites than a process may
have sockets. Heads are bounded as bodies are: a server that sends header lines for ever is cut
off. Nothing is sent again behind the scheduler's back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from twisted.internet.defer import Deferred
from twisted.web._newclient import ParseError
from twisted.web.client import HTTPConnectionPool

from tres.engines.network.open_files import room
from tres.engines.scrapy.failures import TooLarge

Sent = Callable[[str], None]

MAX_HEAD = 65_536
IDLE_CONNECTIONS = 256
IDLE_SECONDS = 60


class _BoundedParser(_LenientHTTPClientParser):
    """A response parser with an end to its patience for header lines."""

    head = 0

    def lineReceived(self, line: bytes) -> None:  # noqa: N802
        self.head += len(line) + 2
        if self.head > MAX_HEAD:
            raise TooLarge(f"more than {MAX_HEAD:,} bytes of headers")
        super().lineReceived(line)

    def statusReceived(self, status: bytes) -> None:  # noqa: N802
        """Scrapy takes the name of the protocol for text, which other bytes are not."""
        if not status.partition(b" ")[0].isascii():
            raise ParseError("no HTTP version", status)  # type: ignore[no-untyped-call]
        super().statusReceived(status)  # type: ignore[no-untyped-call]


class _Protocol(_LenientHTTP11ClientProtocol):
    """One connection; `sent` is told the URL of each request at the moment it goes out."""

    def __init__(self, sent: Sent, quiescent: Any) -> None:
        super().__init__(quiescent)  # type: ignore[no-untyped-call]
        self._sent = sent

    def request(self, request: Any) -> Deferred[Any]:
        self._sent(request.absoluteURI.decode("ascii"))
        answer = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _BoundedParser  # as Scrapy does: the class is fixed inside
        return answer


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, sent: Sent, *known: Any) -> None:
        super().__init__(*known)  # type: ignore[no-untyped-call]
        self._sent = sent

    def buildProtocol(self, addr: Any) -> _Protocol:  # noqa: N802
        return _Protocol(self._sent, self._quiescentCallback)


class ConnectionPool(HTTPConnectionPool):
    """Keeps connections open, but not those of every site that was ever asked."""

    def __init__(self, reactor: Any, per_host: int, sent: Sent) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self._factory = partial(_Factory, sent)  # type: ignore[assignment]
        self._most_idle = min(IDLE_CONNECTIONS, room())
        self.maxPersistentPerHost = per_host
        self.cachedConnectionTimeout = IDLE_SECONDS
        self.retryAutomatically = False  # every attempt goes through the scheduler, in its turn

    def _putConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        if len(self._timeouts) > self._most_idle:
            oldest = min(self._timeouts, key=lambda idle: self._timeouts[idle].getTime())
            self._timeouts[oldest].reset(0)

    def _removeConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        if not self._connections[key]:
            del self._connections[key]
