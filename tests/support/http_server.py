"""The HTTP server of the tests: on loopback, a function answers each request, down to the byte.

The function gets a `Request` and returns a whole response (`response` builds one) or an iterable of
pieces, after which the connection is closed: no piece hangs up, `drip` never ends. Each connection
has a thread, so the function may sleep. The server keeps all requests.

One other server remains, `tests/hostile/server.py`: its cases need the connection itself (resets,
waiting for a silent client to leave), and it runs on more than a hundred addresses in a process
of its own, which the tests of memory and speed leave out.
"""

from __future__ import annotations

import io
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.client import HTTPMessage, parse_headers
from typing import Any

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """One request: when it came, to which address, its head as it was sent, and its body."""

    at: float
    address: str
    head: bytes
    body: bytes = b""

    @property
    def line(self) -> str:
        return self.head.partition(b"\r\n")[0].decode("latin-1")

    @cached_property
    def headers(self) -> HTTPMessage:
        return parse_headers(io.BytesIO(self.head.partition(b"\r\n")[2]))

    @property
    def method(self) -> str:
        return self.line.split(" ")[0]

    @property
    def path(self) -> str:
        """The target as the client wrote it: a path, or the whole URL if it asks a proxy."""
        return self.line.split(" ")[1]


Answer = Callable[[Request], bytes | Iterable[bytes]]


@dataclass
class Server:
    """The same answers at several addresses of loopback, on one port."""

    answer: Answer
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)
    _listeners: list[_Listener] = field(default_factory=list)

    def listen(self, address: str = LOOPBACK, tls: ssl.SSLContext | None = None) -> None:
        """Serve at one more address, in a thread."""
        listener = _Listener((address, self.port), _Connection)
        listener.server, listener.tls = self, tls
        self.port = listener.server_address[1]
        self._listeners.append(listener)
        threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Serve no more."""
        for listener in self._listeners:
            listener.shutdown()
            listener.server_close()

    def url(self, path: str = "/", address: str = LOOPBACK) -> str:
        return f"http://{address}:{self.port}{path}"

    @property
    def heads(self) -> list[bytes]:
        return [asked.head for asked in self.requests]

    def paths(self, address: str = "") -> list[str]:
        return [asked.path for asked in self.requests if address in ("", asked.address)]


def response(
    body: bytes = b"<html><title>a page</title></html>", status: str = "200 OK", **headers: str
) -> bytes:
    """A whole response; header names are written with underscores."""
    fields = {"Content_Type": "text/html", "Content_Length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return f"HTTP/1.1 {status}\r\n".encode() + "\r\n".join([*lines, "", ""]).encode() + body


def drip(chunk: bytes, pause: float = 0.0) -> Iterator[bytes]:
    """A chunk again and again, for ever."""
    while True:
        yield chunk
        time.sleep(pause)


@contextmanager
def serving(answer: Answer, *addresses: str, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve at 127.0.0.1, or at the given addresses of loopback."""
    server = Server(answer)
    for address in addresses or (LOOPBACK,):
        server.listen(address, tls)
    try:
        yield server
    finally:
        server.close()


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    server: Server
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        # a crawler that does not like the certificate hangs up
        with suppress(OSError), self.tls.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    server: _Listener

    def handle(self) -> None:
        self.server.server.connections.append(str(self.server.server_address[0]))
        with suppress(OSError):  # the client has hung up
            while self._answer_one():
                pass

    def _answer_one(self) -> bool:
        """Answer a request; whether another one may follow on this connection."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (line := self.rfile.readline()):
                return False
            head += line
        asked = Request(time.monotonic(), str(self.server.server_address[0]), head)
        body = self.rfile.read(int(asked.headers.get("Content-Length", 0)))
        asked = replace(asked, body=body)
        self.server.server.requests.append(asked)
        answer = self.server.server.answer(asked)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            self.wfile.write(piece)
        return isinstance(answer, bytes) and asked.headers.get("Connection", "").lower() != "close"
