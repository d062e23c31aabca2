"""A process that fetches URLs by Scrapy with our network settings, and says what came of each.

It reads one JSON object from standard input and writes another to standard output. Its scheduler
is the smallest that keeps politeness. Names are resolved by a table: each look-up of a name takes
its next answer, and the last one stays.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from math import inf
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerProcess
from tests.support.crawls import inline_reader

from tres.engines.politeness.clock import ServerResponse
from tres.engines.scrapy.capture import EXCHANGE
from tres.engines.scrapy.decompression import decompressed
from tres.engines.scrapy.failures import NamedFailure, name_failure
from tres.engines.scrapy.network_settings import network_settings
from tres.engines.scrapy.politeness_middleware import politeness_of, site_of_url
from tres.settings.sections import LiveSection

LONG = 30.0


class SmallScheduler(BaseScheduler):
    """Hands out what waits, one site's requests after another's as politeness allows."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        self.politeness = politeness_of(crawler)
        self.waiting: list[Request] = []
        self.away: dict[str, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> SmallScheduler:
        return cls(crawler)

    def has_pending_requests(self) -> bool:
        return bool(self.waiting)

    def enqueue_request(self, request: Request) -> bool:
        if self.back(request, None, None):
            hops = request.meta["hops"] = request.meta.get("hops", 0) + 1
            assert hops < 50
        self.waiting.append(request)
        return True

    def back(self, request: Request, status: int | None, failed: Any) -> bool:
        site = self.away.pop(request.meta["asked"], None)
        if site is not None:
            response = ServerResponse(status)
            self.politeness.request_finished(site, time.monotonic(), response, failed)
        return site is not None

    def next_request(self) -> Request | None:
        from twisted.internet import reactor

        now = time.monotonic()
        for request in self.waiting:
            site = site_of_url(request.url, "host")
            wait = self.politeness.ready_at(site, now) - now
            if wait <= 0 or LONG < wait < inf:  # nobody waits for hours: it is refused then
                self.waiting.remove(request)
                self.politeness.request_started(site, now)
                self.away[request.meta["asked"]] = site
                return request
        if self.waiting:
            reactor.callLater(0.01, self.crawler.engine._slot.nextcall.schedule)
        return None


class Fetcher(Spider):
    name = "fetcher"

    def __init__(self, urls: list[str], told: dict[str, Any], live: LiveSection) -> None:
        super().__init__()
        self.urls = urls
        self.told = told
        self.most = live.max_bytes
        self.reader = inline_reader(live)

    async def start(self) -> Any:
        for url in self.urls:
            yield Request(
                url, self.arrived, errback=self.failed, dont_filter=True, meta={"asked": url}
            )

    async def arrived(self, response: Any) -> None:
        try:
            response = await decompressed(response, self.crawler, self.most)
        except NamedFailure as problem:
            self.lost(response.request, problem)
            return
        exchange = response.meta.get(EXCHANGE)
        told: dict[str, Any] = {"status": response.status, "url": response.url}
        told |= {"size": len(response.body), "text": response.body[:200].decode("latin-1")}
        if not 200 <= response.status < 300:
            problem = name_failure(response.url, response)
            told |= {"kind": problem.failed.kind, "note": problem.note}
        if exchange is not None:
            told["exchange"] = {
                "request": exchange.request_head.decode("latin-1"),
                "response": exchange.response_head.decode("latin-1"),
                "size": len(exchange.body),
                "address": exchange.address,
            }
        self.land(response.request, told, response.status, None)

    def failed(self, failure: Any) -> None:
        self.lost(failure.request, failure.value)

    def lost(self, request: Request, error: BaseException) -> None:
        problem = name_failure(request.url, error)
        told = {"kind": problem.failed.kind, "note": problem.note, "class": type(error).__name__}
        self.land(request, told, None, problem.failed.kind)

    def land(self, request: Request, told: dict[str, Any], status: Any, kind: Any) -> None:
        scheduler: Any = self.crawler.engine.scheduler
        scheduler.back(request, status, kind)
        robots = self.crawler.get_downloader_middleware(self.robots) if self.robots else None
        told["sitemaps"] = robots.sitemaps(request.url) if robots else []
        self.told[request.meta["asked"]] = told

    @property
    def robots(self) -> Any:
        from tres.engines.scrapy.robots_middleware import RobotsMiddleware

        return RobotsMiddleware


def resolve_by(names: dict[str, list[list[str]]], asked: list[str]) -> None:
    """Answer look-ups of these names from the table; numbers go to the real resolver."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        asked.append(name)
        if name == "silent.example":
            time.sleep(60)
        if name not in names:
            return real(host, port, *rest, **more)
        answers = names[name]
        now = answers.pop(0) if len(answers) > 1 else answers[0]
        if not now:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return [entry for address in now for entry in real(address, port, *rest, **more)]

    socket.getaddrinfo = getaddrinfo


def peak_mb() -> int:
    """The most memory that this program held; what `getrusage` tells begins with its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) // 1024  # type: ignore[index]


def main() -> None:
    task = json.load(sys.stdin)
    asked: list[str] = []
    resolve_by(task["names"], asked)
    told: dict[str, Any] = {}
    live = LiveSection(**{"contact": "http://crawler.example/", **task["live"]})
    settings = network_settings(live) | {
        "SCHEDULER": SmallScheduler,
        "CONCURRENT_REQUESTS": 64,
        "LOG_LEVEL": "ERROR",
        **task["settings"],
    }
    process = AsyncCrawlerProcess(settings)
    process.crawl(Fetcher, urls=task["urls"], told=told, live=live)
    process.start()
    json.dump({"told": told, "asked": asked, "peak_mb": peak_mb()}, sys.stdout)


if __name__ == "__main__":
    main()
