"""Two sites on loopback: one that may be crawled, and one that must never be asked."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.http_server import Request, response, serving

PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
TYPES = {"js": "text/javascript", "json": "application/json", "txt": "text/plain"}


@dataclass
class Site:
    """Pages by path, and a log of what was asked for. `REDIRECT url` and `HANG` are orders."""

    address: str
    pages: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, path: str) -> str:
        return f"http://{self.address}:{self.port}{path}"

    @contextmanager
    def serving(self) -> Iterator[Site]:
        with serving(self._answer, self.address) as server:
            self.port = server.port
            yield self

    def _answer(self, asked: Request) -> bytes | Iterable[bytes]:
        path = asked.path.partition("?")[0]
        self.log.append(f"{asked.method} {path}")
        text = self.pages.get(path, "")
        order, _, target = text.partition(" ")
        if order == "REDIRECT":
            return response(b"", "302 Found", Location=target)
        if order == "HANG":
            time.sleep(20)
            return []
        status = "200 OK" if path in self.pages else "404 Not Found"
        kind = TYPES.get(path.rpartition(".")[2], "text/html")
        return response(text.encode(), status, Content_Type=kind)
