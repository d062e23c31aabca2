"""Running crawls on Scrapy: one process, one event loop, one crawl after the other.

Twisted's reactor can be started once per process. So a whole program that crawls live is one
coroutine, `main`, run by `run_live`; within it each `await loop.crawl(...)` is a
Scrapy crawler of its own, from its first request to its last.

Signals interrupt the crawl (`tres.engines.stop_signals`): after the first, `main` goes on to its
end; after the second, `run_live` raises KeyboardInterrupt. Scrapy and Twisted install no handlers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.reactor import install_reactor, is_reactor_installed

from tres.crawl.events import Event, StopReason
from tres.engines.flights import Flights
from tres.engines.politeness.clock import PolitenessClock
from tres.engines.protocols import UNSTEERED, LiveSession, Steering
from tres.engines.reading.duplicates_and_traps import DuplicatesAndTraps
from tres.engines.scrapy.politeness_middleware import live_section_of, politeness_of
from tres.engines.scrapy.response_handler import Reader, ResponseHandler
from tres.engines.scrapy.sitemaps import SitemapReader
from tres.engines.stop_signals import interrupt_loop
from tres.web.url import SiteBy

T = TypeVar("T")

_ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


@dataclass(frozen=True, kw_only=True)
class LiveCrawl:
    """What one crawl on Scrapy needs."""

    session: LiveSession
    reader: Reader
    in_flight: int = 1
    site_by: SiteBy = "host"
    max_hop_wait: float = 30.0
    """Seconds that a redirect or a retry may wait for its site before it fails."""
    backing_off: Mapping[str, float] = field(default_factory=dict)
    """Sites that are backing off, and until when (seconds since the epoch)."""
    redirects: int = 10
    """Hops that pages may add themselves, by a refresh."""
    memory: DuplicatesAndTraps | None = None
    """The pages read before, for a crawl that tells near-duplicates."""
    listener: Callable[[Event], None] = lambda event: None
    steering: Steering = UNSTEERED


class LiveSpider(Spider):
    """A spider without start requests of its own; its attributes are what the parts share."""

    name = "tres"

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing."""
        return
        yield


class LiveLoop:
    """The event loop of a program that crawls live, and what an interrupt must reach."""

    def __init__(self) -> None:
        self._flights: Flights | None = None
        self._politeness: PolitenessClock | None = None
        self.interrupted = False

    async def crawl(self, live: LiveCrawl, settings: Mapping[str, Any]) -> StopReason:
        """Crawl to the end; raise what the session raised."""
        crawler = Crawler(LiveSpider, Settings(dict(settings)))
        # Delays also count from the requests of the crawl before this one.
        politeness = self._politeness = politeness_of(crawler, self._politeness)
        for site, until in live.backing_off.items():
            now = time.monotonic()
            politeness.back_off_until(site, now + until - time.time(), now)
        section = live_section_of(crawler)
        flights = Flights(
            *(live.session, politeness, live.in_flight, live.site_by, live.listener),
            steering=live.steering,
            max_wait=section.max_wait,
        )
        sitemaps = SitemapReader(crawler) if section.sitemaps else None
        responses = ResponseHandler(flights, live.reader, live.memory, live.redirects, sitemaps)
        live.reader.charge = flights.charge
        self._flights = flights
        if self.interrupted:
            flights.interrupt()
        try:
            await crawler.crawl_async(
                flights=flights,
                responses=responses,
                reader=live.reader,
                max_hop_wait=live.max_hop_wait,
            )
        finally:
            self._flights = None
        if flights.fault is not None:
            raise flights.fault
        return flights.reason or StopReason.INTERRUPTED

    def interrupt(self) -> None:
        """Request nothing more, in this crawl and in those that would follow."""
        self.interrupted = True
        if self._flights is not None:
            self._flights.interrupt()


def run_live(main: Callable[[LiveLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a program that crawls live; once per process."""
    if not is_reactor_installed():
        install_reactor(_ASYNCIO)
    from twisted.internet import reactor as installed  # only now: importing it installs one

    reactor: Any = installed
    live = LiveLoop()
    loop = asyncio.get_event_loop()
    task = loop.create_task(main(live))
    task.add_done_callback(lambda _: reactor.stop())
    with interrupt_loop(live.interrupt, reactor.stop, loop):
        reactor.run(installSignalHandlers=False)
    if not task.done():
        raise KeyboardInterrupt
    return task.result()
