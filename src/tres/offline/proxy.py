"""An offline web as an HTTP/1.1 forward proxy, so that any crawler can run on it.

It leaves most of the machine to the crawler: one thread, no task per connection, responses cached
as bytes and sent with one write. And it survives bad clients, as the use of memory is bounded:

- a request that has not ended after `MAX_HEAD_BYTES` is refused, and the connection closed;
- the requests of a connection are answered in order; while a response is delayed, or the client
  does not read it, the proxy reads nothing more from that connection;
- a connection without a completed request for `IDLE_SECONDS` is closed, whether the client is
  silent, sends its head byte by byte, or never reads the response;
- there are at most `MAX_CONNECTIONS`, and `MAX_CACHED_BYTES` of cached responses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TextIO, cast

from tres.errors import ArchiveError, printable
from tres.offline.faults import Faults
from tres.offline.http_messages import (
    HttpResponse,
    Request,
    http_response,
    parse_request,
    text_response,
)
from tres.offline.http_responses import NOT_FOUND, Source

MAX_HEAD_BYTES = 32_768
MAX_CONNECTIONS = 500
MAX_CACHED_BYTES = 256 << 20
IDLE_SECONDS = 60.0
CLOSING_TURNS = 10
"""Turns of the event loop to wait until all connections are closed, the newest included."""

UNAVAILABLE = text_response(503, "This page fails on purpose.")
_TOO_LONG = text_response(431, f"A request must end after {MAX_HEAD_BYTES} bytes.")


class Proxy:
    """Serves one source; `log` gets a line per request, with the time of `clock`."""

    def __init__(
        self,
        source: Source,
        robots: bytes | None = None,
        faults: Faults | None = None,
        log: TextIO | None = None,
        clock: Callable[[], float] = time.time,
        idle_seconds: float = IDLE_SECONDS,
        max_cached_bytes: int = MAX_CACHED_BYTES,
    ) -> None:
        self._source = source
        self._robots = NOT_FOUND if robots is None else http_response(200, robots, "text/plain")
        self.faults = faults or Faults()
        self._log = log
        self.clock = clock
        self._idle_seconds = idle_seconds
        self._cached: dict[str, HttpResponse] = {}
        self._cached_bytes = 0
        self._max_cached_bytes = max_cached_bytes
        self.connections: set[Connection] = set()
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen, and return the port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), host, port)
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweep()
        return self.port

    async def close(self) -> None:
        """Stop listening, and close all connections."""
        self._sweeping.cancel()
        self._server.close()
        await self._server.wait_closed()
        for _ in range(CLOSING_TURNS):
            for connection in self.connections:
                connection.abort()
            await asyncio.sleep(0)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        for connection in tuple(self.connections):
            if connection.idle_since < loop.time() - self._idle_seconds:
                connection.abort()
        self._sweeping = loop.call_later(self._idle_seconds / 10, self._sweep)

    def response(self, request: Request) -> HttpResponse:
        """Return the response to a request, or the fault that is due."""
        found = self._cached.get(request.url) or self._load(request.url)
        if found.status == 200 and found is not self._robots and self.faults.fails(request.url):
            return UNAVAILABLE
        return found

    def _load(self, url: str) -> HttpResponse:
        """Return a response that is not cached yet, and cache it instead of the oldest ones."""
        try:
            loaded = self._source(url)
        except ArchiveError as error:  # the file has been changed or removed
            return text_response(500, error.message)
        if loaded is None:
            return self._robots if url.split("/", 3)[3] == "robots.txt" else NOT_FOUND
        self._cached[url] = loaded
        self._cached_bytes += len(loaded.whole)
        while self._cached_bytes > self._max_cached_bytes:
            self._cached_bytes -= len(self._cached.pop(next(iter(self._cached))).whole)
        return loaded

    def log_request(self, at: float, host: str, method: str, url: str, status: int) -> None:
        """Write a request to the log, if there is one."""
        if self._log is not None:
            self._log.write(f"{at:.6f}\t{host}\t{method}\t{printable(url)}\t{status}\n")


class Connection(asyncio.Protocol):
    """One client. `idle_since` is the time of its last response; infinite while one is delayed."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._received = bytearray()
        self._waiting: asyncio.TimerHandle | None = None
        self._is_full = False
        self._loop = asyncio.get_running_loop()
        self.idle_since = self._loop.time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if len(self._proxy.connections) >= MAX_CONNECTIONS:
            self._transport.abort()
        else:
            self._proxy.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._proxy.connections.discard(self)
        if self._waiting:
            self._waiting.cancel()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._process()

    def pause_writing(self) -> None:
        self._is_full = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_full = False
        self._process()

    def _process(self) -> None:
        """Answer the requests received so far, as long as the client reads the responses."""
        while not (self._is_full or self._waiting or self._transport.is_closing()):
            head = self._next_head()
            if head is None:
                self._transport.resume_reading()
                return
            self._handle(head)

    def _next_head(self) -> bytes | None:
        """Return the head of the next complete request, without empty lines before it."""
        received = self._received
        while received.startswith(b"\r\n"):
            del received[:2]
        end = received.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if end < 0:
            if len(received) >= MAX_HEAD_BYTES:
                self._close_with(_TOO_LONG)
            return None
        head = bytes(received[:end])
        del received[: end + 4]
        return head

    def _handle(self, head: bytes) -> None:
        at = self._proxy.clock()
        request = parse_request(head, self._proxy.port)
        if not isinstance(request, Request):
            self._proxy.log_request(
                at, "-", request.method, request.target, request.response.status
            )
            self._close_with(request.response)
        elif seconds := self._proxy.faults.next_delay():
            self._transport.pause_reading()
            self.idle_since = float("inf")
            self._waiting = self._loop.call_later(seconds, self._respond_late, request, at)
        else:
            self._respond(request, at)

    def _respond_late(self, request: Request, at: float) -> None:
        self._waiting = None
        self._respond(request, at)
        self._process()

    def _respond(self, request: Request, at: float) -> None:
        found = self._proxy.response(request)
        method = request.method.decode()
        self._proxy.log_request(at, request.host, method, request.url, found.status)
        self._transport.write(found.encode(request.method, request.keep))
        self.idle_since = self._loop.time()
        if not request.keep:
            self._transport.close()

    def _close_with(self, last: HttpResponse) -> None:
        self._transport.write(last.encode(b"GET", keep=False))
        self._transport.close()
