"""Servers on loopback that answer with whatever bytes a test wants, and a log of what they saw."""

from __future__ import annotations

import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Answer = bytes | Iterable[bytes]


@dataclass
class Seen:
    """One request, as a server saw it."""

    at: float
    address: str
    line: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


@dataclass
class Servers:
    """The same answers at several addresses of loopback, on one port."""

    answer: Callable[[Seen], Answer]
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)

    def url(self, path: str = "/", address: str = "127.0.0.1") -> str:
        return f"http://{address}:{self.port}{path}"

    def paths(self, address: str = "") -> list[str]:
        return [seen.path for seen in self.seen if address in ("", seen.address)]


def page(
    body: bytes = b"<html><title>a page</title></html>",
    status: str = "200 OK",
    **headers: str,
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


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        servers: Servers = self.server.servers  # type: ignore[attr-defined]
        address = str(self.server.server_address[0])
        servers.connections.append(address)
        try:
            while (line := self.rfile.readline().decode("latin-1").strip()) != "":
                seen = Seen(time.monotonic(), address, line, self._headers())
                servers.seen.append(seen)
                answer = servers.answer(seen)
                if isinstance(answer, bytes):
                    self.wfile.write(answer)
                    continue
                for piece in answer:
                    self.wfile.write(piece)
                return
        except OSError:
            return  # the crawler has hung up

    def _headers(self) -> dict[str, str]:
        lines = iter(lambda: self.rfile.readline().decode("latin-1").strip(), "")
        pairs = (line.partition(":") for line in lines)
        return {name.lower(): value.strip() for name, _, value in pairs}


class _Server(socketserver.ThreadingTCPServer):
    tls: ssl.SSLContext | None = None
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        # a crawler that does not like the certificate hangs up
        with suppress(OSError), self.tls.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)


@contextmanager
def serving(
    answer: Callable[[Seen], Answer], *addresses: str, tls: ssl.SSLContext | None = None
) -> Iterator[Servers]:
    """Serve at 127.0.0.1, or at the given addresses of loopback."""
    servers = Servers(answer)
    running: list[_Server] = []
    for address in addresses or ("127.0.0.1",):
        server = _Server((address, servers.port), _Handler)
        server.servers = servers  # type: ignore[attr-defined]
        server.tls = tls
        servers.port = server.server_address[1]
        running.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield servers
    finally:
        for server in running:
            server.shutdown()
            server.server_close()
