"""The HTTP server: uvicorn, with limits on what a client can hold open.

A request must be complete within seconds of its first byte (or of the connection, for the first),
however slowly it comes in; an answer that nobody reads is given up; and beyond a number of open
connections new ones are turned away. uvicorn has none of these limits itself.
"""

from __future__ import annotations

import asyncio
import socket

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 200
"""A browser opens six."""
WHOLE_REQUEST = 10.0
"""Seconds within which a request must be complete."""
UNREAD_ANSWER = 60.0
"""Seconds for which an answer may wait to be read."""
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: %d\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n" % WHOLE_REQUEST
)


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, with limits for hostile clients."""

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(FULL)
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take data in; only a complete request ends the wait."""
        super().data_received(data)
        self._await_request()

    def pause_writing(self) -> None:
        """Start to wait for a client that does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_ANSWER, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop that wait: the client reads again."""
        super().resume_writing()
        _cancel(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waits."""
        _cancel(self._deadline)
        _cancel(self._unread)
        super().connection_lost(exc)

    def _await_request(self) -> None:
        """Hang up if the request is not complete in time."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            _cancel(self._deadline)
            self._deadline = None
        elif self._deadline is None:
            self._deadline = self.loop.call_later(WHOLE_REQUEST, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until a signal comes."""
    server_for(app).run(sockets=[listening])


def server_for(app: ASGIApp) -> uvicorn.Server:
    """Return a server with limits that says nothing about itself and trusts no proxy."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
    )
