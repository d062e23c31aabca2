"""A small web on loopback: a forward proxy that answers for any number of hosts.

A test writes its web as a dictionary from URL to what is there: HTML text, or an `Answer` with
a status, headers, a delay. A list is answered one after the other, the last one for ever. What
is not in the dictionary is 404. The server notes what it was asked for, and how many requests
were under way at the same time, in all and by host.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.parse import parse_html
from tres.web.url import host_of

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """What a URL gives."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    hang_up: bool = False


def moved(to: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status=status, headers={"Location": to})


Written = str | Answer
Pages = Mapping[str, Written | list[Written]]


@dataclass(frozen=True)
class Asked:
    """One request, as the server has seen it."""

    url: str
    at: float
    headers: Mapping[str, str]


class LocalWeb:
    """Serves pages while it is entered; `proxy` is its address."""

    def __init__(self, pages: Pages) -> None:
        self._pages = {url: ([a] if not isinstance(a, list) else a) for url, a in pages.items()}
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._now: Counter[str] = Counter()
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.most_at_once_of: Counter[str] = Counter()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.web = self

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def urls(self) -> list[str]:
        """What was asked for, in order, without robots.txt."""
        return [asked.url for asked in self.asked if not asked.url.endswith("/robots.txt")]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, url: str, headers: Mapping[str, str]) -> Answer:
        with self._lock:
            self.asked.append(Asked(url, time.monotonic(), headers))
            written = self._pages.get(url, [Answer(status=404)])
            place = min(self._times[url], len(written) - 1)
            self._times[url] += 1
        found = written[place]
        return Answer(found) if isinstance(found, str) else found

    def begin(self, host: str) -> None:
        with self._lock:
            self._now[host] += 1
            self.most_at_once = max(self.most_at_once, self._now.total())
            self.most_at_once_of[host] = max(self.most_at_once_of[host], self._now[host])

    def end(self, host: str) -> None:
        with self._lock:
            self._now[host] -= 1

    def offline(self) -> OfflineWeb:
        """The same pages without a network."""
        return OfflineWeb({url: written[-1] for url, written in self._pages.items()})


class OfflineWeb:
    """What a replay needs to know of a local web: pages, redirects, and the rest is dead."""

    name = "offline"

    def __init__(self, pages: Mapping[str, Written]) -> None:
        self._pages = pages

    def fetch(self, url: str) -> Outcome:
        written = self._pages.get(url, Answer(status=404))
        answer = Answer(written) if isinstance(written, str) else written
        if "Location" in answer.headers:
            return self.fetch(answer.headers["Location"])
        if answer.status != 200:
            return Failed(url, FailureKind.NOT_FOUND)
        return parse_html(url, answer.body.encode())

    def pages(self) -> Iterator[Page]:
        found = map(self.fetch, self._pages)
        yield from (page for page in found if isinstance(page, Page))

    def __len__(self) -> int:
        return len(self._pages)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    web: LocalWeb

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no fault of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: Nagle's algorithm would hold back the second
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        web, url = self.server.web, self.path
        answer = web.answer(url, dict(self.headers))
        host = host_of(url)
        web.begin(host)
        try:
            time.sleep(answer.seconds)
        finally:
            web.end(host)
        if answer.hang_up:
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": HTML, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def html(title: str, text: str, links: Iterable[str] = ()) -> str:
    """A page; the anchor of a link is its URL's last part."""
    anchors = "".join(f'<a href="{to}">{to.rpartition("/")[2]}</a> ' for to in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"
