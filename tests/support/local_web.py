"""A small web on loopback: a forward proxy that answers for any number of hosts.

A test writes its web as a dictionary from URL to what is there: HTML text, or an `Answer` with
a status, headers, a delay. The answers of a list are given one after the other, the last one for
ever. A URL that is not in the dictionary is 404. The web counts how many requests were under way
at the same time, in all and by host.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPMessage, responses
from typing import Self

from tests.support.http_server import Request, Server, response

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
    """One request for a URL."""

    url: str
    at: float
    headers: HTTPMessage


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
        self._server = Server(self._serve)
        self._server.listen()

    @property
    def proxy(self) -> str:
        return self._server.url("")

    @property
    def urls(self) -> list[str]:
        """The URLs of all requests, in order, without robots.txt."""
        return [asked.url for asked in self.asked if not asked.url.endswith("/robots.txt")]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.close()

    def _serve(self, request: Request) -> bytes | Iterable[bytes]:
        answer, host = self.answer(request), host_of(request.path)
        self._count(host, 1)
        time.sleep(answer.seconds)
        self._count(host, -1)
        if answer.hang_up:
            return []
        status = f"{answer.status} {responses.get(answer.status, '')}"
        headers = {name.replace("-", "_"): value for name, value in answer.headers.items()}
        return response(answer.body.encode(), status, **{"Content_Type": HTML, **headers})

    def answer(self, request: Request) -> Answer:
        """The next answer for the URL of a request."""
        url = request.path
        with self._lock:
            self.asked.append(Asked(url, request.at, request.headers))
            written = self._pages.get(url, [Answer(status=404)])
            answer = written[min(self._times[url], len(written) - 1)]
            self._times[url] += 1
        return Answer(answer) if isinstance(answer, str) else answer

    def _count(self, host: str, change: int) -> None:
        with self._lock:
            self._now[host] += change
            self.most_at_once = max(self.most_at_once, self._now.total())
            self.most_at_once_of[host] = max(self.most_at_once_of[host], self._now[host])

    def offline(self) -> OfflineWeb:
        """The same pages without a network."""
        return OfflineWeb({url: written[-1] for url, written in self._pages.items()})


class GuardedWeb(LocalWeb):
    """A web on which every page waits until a guard lets it go; it gets the number of the page."""

    def __init__(self, pages: Pages, guard: Callable[[int], object]) -> None:
        super().__init__(pages)
        self._guard = guard

    def answer(self, request: Request) -> Answer:
        found = super().answer(request)
        if not request.path.endswith("/robots.txt"):
            self._guard(self.urls.index(request.path) + 1)
        return found


class OfflineWeb:
    """The pages and redirects of a local web, for a replay; every other URL is a dead link."""

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


def html(title: str, text: str, links: Iterable[str] = ()) -> str:
    """A page; the anchor of a link is its URL's last part."""
    anchors = "".join(f'<a href="{to}">{to.rpartition("/")[2]}</a> ' for to in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"
