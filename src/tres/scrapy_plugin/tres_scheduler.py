"""The scheduler for any Scrapy project: tres decides where the spider goes next.

    SCHEDULER = "tres.scrapy_plugin.TresScheduler"
    TRES_TOPIC = "topic.toml"         # what to look for
    TRES_RUN = "runs/first"           # the run directory; the next start continues it
    TRES_CONCURRENCY = 8              # pages in flight; default: the topic file's
    TRES_PAGES = 1000                 # budget; default: the topic file's

The spider's `start_urls` are the seeds, or else those of the topic file. tres fetches, reads and
classifies pages and extracts their links itself, and offers to the crawl those that the spider may
follow (`tres.scrapy_plugin.link_filter`). Each page that counts then goes to the spider's `parse`,
or to the callback of the rule or start request that led there; `response.meta["tres"]` says how
relevant it is. What the callback yields goes the usual way. Requests that the spider yields are
fetched as they are, by Scrapy's own scheduler, and the policy does not learn from them.

robots.txt (`tres.scrapy_plugin.strict_robots`), user agent, retries and limits are the project's
own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import deferred_from_coro

from tres.crawl.events import Event, FetchFailed, Postponed, Stepped, StopReason
from tres.engines.flights import Flight, Flights
from tres.engines.network.open_files import limit_in_flight
from tres.engines.politeness.clock import PolitenessClock
from tres.engines.reading.switching_reader import SwitchingReader
from tres.engines.scrapy.internals import is_starting
from tres.engines.scrapy.response_handler import ResponseHandler
from tres.engines.scrapy.scheduler import FLIGHT, CrawlScheduler
from tres.errors import ConfigError, RunError, TresError
from tres.runs.live_components import check_no_labels, make_controller, reader_plan, restore_memory
from tres.runs.live_run import start_or_resume
from tres.scrapy_plugin.link_filter import LinkFilter
from tres.scrapy_plugin.spider_requests import (
    SPIDER_REQUEST,
    carrier_request,
    iterate_output,
    spider_request,
)
from tres.scrapy_plugin.start_requests import StartRequests
from tres.scrapy_plugin.strict_robots import make_robots_strict
from tres.settings.sections import LiveSection
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.identity import Identity
from tres.web.page import FailureKind
from tres.web.percept import Percept
from tres.web.url import canonical, site_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

_log = logging.getLogger(__name__)


class TresScheduler(CrawlScheduler):
    """The crawl scheduler, Scrapy's own beside it, and the run that records the crawl."""

    def __init__(self, crawler: Crawler, config: TopicConfig, directory: Path) -> None:
        assert crawler.spider is not None
        self._spider = crawler.spider
        self._open = ExitStack()
        self._run, perceiver = self._open.enter_context(start_or_resume(config, directory))
        self._reader = SwitchingReader(reader_plan(self._run, perceiver))
        seeds = [url for url in map(canonical, config.topic.seeds) if url]
        self._seed_sites = {site_of(url, config.crawl.site) for url in seeds}
        self._starts = StartRequests(seeds, own=bool(getattr(self._spider, "start_urls", None)))
        self._link_filter = LinkFilter(
            crawler, self._spider, Identity(config.live.drop_parameters), directory
        )
        self._own = Scheduler.from_crawler(crawler)
        crawl, site_by = self._run.recorded, config.crawl.site
        politeness = PolitenessClock(_stricter_politeness(config.live, crawler.settings))
        controller = make_controller(self._run, perceiver, self._reader, self._count)
        for site, until in crawl.journal.resting().items():
            now = time.monotonic()
            politeness.back_off_until(site, now + until - time.time(), now)
        flights = Flights(
            *(crawl, politeness, limit_in_flight(config.crawl.in_flight), site_by, self._count),
            steering=controller,
            max_wait=config.live.max_wait,
        )
        self._reader.charge = flights.charge
        self._memory = restore_memory(config, crawl.journal)
        responses = ResponseHandler(
            *(flights, self._reader, self._memory, config.live.redirects),
            filter_links=self._link_filter.filter_links,
        )
        super().__init__(crawler, flights, responses, config.live.timeout)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        """Return the scheduler of a project, from its settings and its spider."""
        if _is_page_command(crawler):
            return Scheduler.from_crawler(crawler)
        topic, run = (crawler.settings.get(name) for name in ("TRES_TOPIC", "TRES_RUN"))
        if not topic or not run:
            raise ConfigError(
                "TRES_TOPIC or TRES_RUN is missing: set them to a topic file and a run directory"
            )
        seeds = getattr(crawler.spider, "start_urls", None)
        config = load_topic(topic).override(
            seeds=list(seeds) if seeds else None,
            in_flight=crawler.settings.getint("TRES_CONCURRENCY") or None,
            pages=crawler.settings.getint("TRES_PAGES") or None,
        )
        check_no_labels(config)
        try:
            return cls(crawler, config, Path(run))
        except RunError as problem:
            problem.add_note(
                "in a Scrapy project, TRES_RUN names the run, and TRES_PAGES is --pages"
            )
            raise

    def __len__(self) -> int:
        """Return how much waits: the spider's requests, hops, seeds and links of the frontier."""
        session = self._run.session
        return len(self._own) + len(self._hops) + session.seeds_left + len(session.policy)

    def open(self, spider: Spider) -> Any:
        """Open Scrapy's own scheduler as well."""
        super().open(spider)
        self._robots = make_robots_strict(self._crawler)
        return self._own.open(spider)

    def close(self, reason: str) -> Deferred[None]:
        """Fail what is in flight, and write the result of the run."""
        super().close(reason)
        return deferred_from_coro(self._finish(reason))

    async def _finish(self, reason: str) -> None:
        self._own.close(reason)
        await self._reader.close()
        with self._open:
            try:
                if self._flights.fault is not None:
                    raise self._flights.fault
                stopped = self._flights.reason or StopReason.INTERRUPTED
                self._run.finish(stopped, self._memory.dropped + self._link_filter.dropped)
            except TresError as problem:
                for line in (*problem.details, problem.message):
                    _log.error("tres: %s", line)

    def has_pending_requests(self) -> bool:
        """Is there more to come, chosen by tres or yielded by the spider?"""
        return self._own.has_pending_requests() or super().has_pending_requests()

    def enqueue_request(self, request: Request) -> bool:
        """Take a hop of a flight, a request for a seed, or a request of the spider's own."""
        if FLIGHT in request.meta:
            return self._may_redirect(request) and super().enqueue_request(request)
        seed = self._starts.seed(request)
        if seed is None:
            return self._own.enqueue_request(request)
        flight = self._flights.get(seed)
        if flight is not None and flight in self._requests:
            # The fetch is under way: of the spider's request only its callback still counts.
            self._requests[flight].meta[SPIDER_REQUEST] = request
        elif not self._starts.take(seed, request):
            return self._own.enqueue_request(request)
        return True

    def _may_redirect(self, request: Request) -> bool:
        """May the spider's own request go where this redirect leads? Else its flight fails."""
        asked: Request = request.meta[SPIDER_REQUEST]
        hop = asked.replace(url=request.url)
        flight = self._flights.get(request.meta[FLIGHT])
        if flight is None or self._link_filter.permits(hop):
            return flight is not None
        self._flights.fail(flight, FailureKind.OFF_SITE, f"redirected to {request.url}")
        return False

    def next_request(self) -> Request | None:
        """Return the next request; the spider's own, which are few, come first."""
        return self._own.next_request() or super().next_request()

    def _next_flight_request(self) -> Request | None:
        """Return a request for the next flight, like the one that the spider would have made."""
        self._block_offsite_sites()
        while (flight := self._next_flight()) is not None:
            request = self._request(flight)
            if not self._link_filter.permits(request.meta[SPIDER_REQUEST]):
                self._flights.fail(flight, FailureKind.OFF_SITE, "no longer in allowed_domains")
            else:
                self._requests[flight] = request
                return request
        return None

    def _next_flight(self) -> Flight | None:
        starting = is_starting(self._crawler)
        if (flight := self._starts.ready(starting, time.monotonic())) is not None:
            return flight
        while (flight := self._flights.choose()) is not None:
            if not self._starts.wait(flight, starting):
                return flight
        return None

    def _request(self, flight: Flight) -> Request:
        seed = flight.url in self._starts
        asked = (self._starts if seed else self._link_filter).request(flight.url)
        depth = self._run.session.clicks(flight.url)
        return carrier_request(asked, flight, depth, self.on_response, self.on_failure)

    def _block_offsite_sites(self) -> None:
        """Block the sites that have left `allowed_domains`, except those of seeds."""
        known = self._run.session.crawl.site_names
        sites = (site for site in known if site not in self._seed_sites)
        try:
            for site in self._link_filter.newly_offsite(sites):
                self._run.recorded.block(site)
        except TresError as fault:  # raised when the run is closed
            self._flights.fault = fault

    async def on_response(self, response: Response, **known: Any) -> AsyncIterator[Any]:
        """Finish the flight, then pass the spider each step and what it asked for itself."""
        flight = self._flights.get(response.meta.get(FLIGHT))
        if flight is None:
            return
        percept = await self._responses.handle_response(flight, response)
        if isinstance(percept, Request):
            self._crawler.engine.crawl(percept)
            return
        is_step = isinstance(percept, Percept)
        if not is_step and not self._spider_wants(flight, response):
            return
        assert response.request is not None
        asked = response.request = spider_request(response.request)
        relevance = percept.relevance if is_step else None
        response.meta["tres"] = {"relevance": relevance, "relevant": is_step and percept.relevant}
        callback = asked.callback or self._link_filter.callback_for(response.url)
        async for result in iterate_output(callback(response, **known)):
            yield result

    def _spider_wants(self, flight: Flight, response: Response) -> bool:
        """Does the spider want a response that was not a step of the crawl?

        It asked for its start URLs itself, and named the statuses that it handles.
        """
        return flight.url in self._starts or not 200 <= response.status < 300

    def on_failure(self, failure: Any) -> Any:
        """Finish the flight, then call the errback of the spider's request."""
        super().on_failure(failure)
        asked = failure.request = spider_request(failure.request)
        if isinstance(failure.value, HttpError):
            failure.value.response.request = asked
        return asked.errback(failure) if asked.errback else None

    def _put_back(self, url: str) -> None:
        """Keep the spider's request for a URL that goes back to the frontier."""
        for flight, request in self._requests.items():
            if flight.url == url and url not in self._starts:
                self._link_filter.put_back(url, request.meta[SPIDER_REQUEST])

    def _count(self, event: Event) -> None:
        """Count the events of the crawl in Scrapy's statistics."""
        match event:
            case Stepped(relevant=relevant):
                self._crawler.stats.inc_value("tres/pages")
                self._crawler.stats.inc_value("tres/relevant", int(relevant))
            case FetchFailed(kind=kind):
                self._crawler.stats.inc_value(f"tres/failed/{kind}")
            case Postponed(url=url, kind=kind):
                self._crawler.stats.inc_value(f"tres/postponed/{kind}")
                self._put_back(url)
            case _:
                pass


def _is_page_command(crawler: Crawler) -> bool:
    """Is this a command for single pages: check, fetch, parse, view, shell?

    Such a command replaces the spider's `start`, or runs the engine without a crawl.
    """
    start = getattr(type(crawler.spider), "start", None)
    commands = getattr(start, "__module__", "").startswith("scrapy.commands.")
    return commands or not crawler.crawling


def _stricter_politeness(live: LiveSection, settings: BaseSettings) -> LiveSection:
    """Return the topic file's limits, made as strict as those of the project's downloader.

    So no page is chosen that the downloader would only hold back.
    """
    per_domain = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    return replace(
        live,
        delay=max(live.delay, settings.getfloat("DOWNLOAD_DELAY")),
        per_site=min(live.per_site, per_domain) if per_domain else live.per_site,
    )
