"""Two servers on loopback: one that may be crawled, and one that must never be asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
TYPES = {".js": "text/javascript", ".json": "application/json", ".txt": "text/plain"}


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
        server = ThreadingHTTPServer((self.address, 0), _handler(self))
        server.daemon_threads = True
        server.block_on_close = False
        self.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.log.append(f"{self.command} {path}")
            order, _, rest = site.pages.get(path, "").partition(" ")
            if order == "REDIRECT":
                self.send_response(302)
                self.send_header("Location", rest)
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif order == "HANG":
                time.sleep(20)
            else:
                self._page(path)

        do_POST = do_GET  # noqa: N815

        def _page(self, path: str) -> None:
            body = site.pages.get(path, "").encode()
            kind = next((TYPES[end] for end in TYPES if path.endswith(end)), "text/html")
            self.send_response(200 if path in site.pages else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    return Handler
