"""A web as an HTTP/1.1 forward proxy, so that any crawler can be run on it.

It is made to take little from the machine that it shares with the crawler: one thread, no task
per connection, a complete answer kept as bytes once it was made, one write for it. And it is
made to outlive its clients. What a connection may hold is bounded:

- a request that has not ended after `MAX_HEAD_BYTES` is refused, the connection closed;
- requests are answered one by one in their order; while an answer is delayed, or the client
  does not read, nothing more is read from that connection;
- a connection on which no request was completed for `IDLE_SECONDS` is closed, be it silent, a
  head that drips in, or an answer that is never taken;
- there are at most `MAX_CONNECTIONS`, and `MAX_CACHED_BYTES` of answers that are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TextIO, cast

from tres.errors import ArchiveError, printable
from tres.offline.faults import Faults
from tres.offline.http_answers import NOT_FOUND, Source
from tres.offline.http_messages import Answer, Request, answer, request_of, told

MAX_HEAD_BYTES = 32_768
MAX_CONNECTIONS = 500
MAX_CACHED_BYTES = 256 << 20
IDLE_SECONDS = 60.0
TURNS = 10
"""Turns of the event loop in which connections end, those included that were just accepted."""

UNAVAILABLE = told(503, "This page fails, as it was told to.")
_TOO_LONG = told(431, f"A request must end after {MAX_HEAD_BYTES} bytes.")


class Proxy:
    """Answers for one source; `log` gets a line per request, `clock` says its time."""

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
        self._robots = NOT_FOUND if robots is None else answer(200, robots, "text/plain")
        self.faults = faults or Faults()
        self._log = log
        self.clock = clock
        self._idle_seconds = idle_seconds
        self._cached: dict[str, Answer] = {}
        self._cached_bytes = 0
        self._max_cached_bytes = max_cached_bytes
        self.connections: set[Connection] = set()
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; gives the port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), host, port)
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweep()
        return self.port

    async def close(self) -> None:
        """Listen no more and end all connections."""
        self._sweeping.cancel()
        self._server.close()
        await self._server.wait_closed()
        for _ in range(TURNS):
            for connection in self.connections:
                connection.abort()
            await asyncio.sleep(0)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        for connection in tuple(self.connections):
            if connection.idle_since < loop.time() - self._idle_seconds:
                connection.abort()
        self._sweeping = loop.call_later(self._idle_seconds / 10, self._sweep)

    def answer(self, request: Request) -> Answer:
        """What a request is answered now."""
        found = self._cached.get(request.url) or self._made(request.url)
        if found.status == 200 and found is not self._robots and self.faults.fails(request.url):
            return UNAVAILABLE
        return found

    def _made(self, url: str) -> Answer:
        """An answer that is not known yet; the oldest ones make room for it."""
        try:
            made = self._source.answer(url)
        except ArchiveError as error:  # the file was changed or removed while it is served
            return told(500, error.message)
        if made is None:
            return self._robots if url.split("/", 3)[3] == "robots.txt" else NOT_FOUND
        self._cached[url] = made
        self._cached_bytes += len(made.whole)
        while self._cached_bytes > self._max_cached_bytes:
            self._cached_bytes -= len(self._cached.pop(next(iter(self._cached))).whole)
        return made

    def note(self, at: float, host: str, method: str, url: str, status: int) -> None:
        """Write a request down, if there is a log."""
        if self._log is not None:
            self._log.write(f"{at:.6f}\t{host}\t{method}\t{printable(url)}\t{status}\n")


class Connection(asyncio.Protocol):
    """One client. `idle_since` is when its last request was answered; never while one waits."""

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
        """End it at once."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._go_on()

    def pause_writing(self) -> None:
        self._is_full = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_full = False
        self._go_on()

    def _go_on(self) -> None:
        """Answer what has been received, as far as the client takes it."""
        while not (self._is_full or self._waiting or self._transport.is_closing()):
            head = self._next_head()
            if head is None:
                self._transport.resume_reading()
                return
            self._take(head)

    def _next_head(self) -> bytes | None:
        """The next complete request; empty lines before it do not count."""
        received = self._received
        while received.startswith(b"\r\n"):
            del received[:2]
        end = received.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if end < 0:
            if len(received) >= MAX_HEAD_BYTES:
                self._end(_TOO_LONG)
            return None
        head = bytes(received[:end])
        del received[: end + 4]
        return head

    def _take(self, head: bytes) -> None:
        at = self._proxy.clock()
        request = request_of(head, self._proxy.port)
        if not isinstance(request, Request):
            self._proxy.note(at, "-", request.method, request.target, request.answer.status)
            self._end(request.answer)
        elif seconds := self._proxy.faults.seconds():
            self._transport.pause_reading()
            self.idle_since = float("inf")
            self._waiting = self._loop.call_later(seconds, self._answer_late, request, at)
        else:
            self._answer(request, at)

    def _answer_late(self, request: Request, at: float) -> None:
        self._waiting = None
        self._answer(request, at)
        self._go_on()

    def _answer(self, request: Request, at: float) -> None:
        found = self._proxy.answer(request)
        self._proxy.note(at, request.host, request.method.decode(), request.url, found.status)
        self._transport.write(found.written(request.method, request.keep))
        self.idle_since = self._loop.time()
        if not request.keep:
            self._transport.close()

    def _end(self, last: Answer) -> None:
        self._transport.write(last.written(b"GET", keep=False))
        self._transport.close()
