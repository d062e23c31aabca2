"""The scheduler for anybody's Scrapy project: tres decides where their spider goes.

    SCHEDULER = "tres.scrapy_plugin.TresScheduler"
    TRES_TOPIC = "topic.toml"         # what to look for
    TRES_RUN = "runs/first"           # where the run is kept, and gone on with
    TRES_CONCURRENCY = 8              # pages in flight; the topic file's if it is not set
    TRES_PAGES = 1000                 # budget; the topic file's if it is not set

The spider's `start_urls` are the seeds, or else those of the topic file. tres fetches, reads and
judges pages and finds their links itself, and offers to the crawl those that the spider may follow
(`tres.scrapy_plugin.link_filter`). Each page that counts is then given to the spider's `parse`, or
to the callback of the rule or start request that led there, with `response.meta["tres"]` saying how
relevant it is, and what the callback yields goes the usual way. Requests that the spider yields
are fetched as asked for, by Scrapy's own scheduler, and the learner hears nothing of them.

Robots.txt (`tres.scrapy_plugin.strict_robots`), user agent, retries and limits are those of the
project: its settings are its own. This module looks upwards, to the store and the topic: it is an
entry point, as commands are.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import deferred_from_coro

from tres.crawl.events import Event, FetchFailed, Postponed, Stepped, StopReason
from tres.engines.flights import Flight, Flights
from tres.engines.network.open_files import bounded
from tres.engines.politeness.clock import PolitenessClock
from tres.engines.reading.switching_reader import SwitchingReader
from tres.engines.scrapy.politeness_middleware import stricter_politeness
from tres.engines.scrapy.response_handler import ResponseHandler
from tres.engines.scrapy.scheduler import FLIGHT, CrawlScheduler
from tres.errors import ConfigError, RunError, TresError
from tres.runs.live_checks import check_no_labels
from tres.runs.live_components import make_controller, reader_plan, restore_memory
from tres.runs.live_run import start_or_resume
from tres.scrapy_plugin.link_filter import LinkFilter
from tres.scrapy_plugin.spider_requests import ASKED, results, sent, spider_request
from tres.scrapy_plugin.start_requests import StartRequests
from tres.scrapy_plugin.strict_robots import make_robots_strict
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
    """Our scheduler, Scrapy's own beside it, and the run that is kept meanwhile."""

    def __init__(self, crawler: Crawler, config: TopicConfig, directory: Path) -> None:
        assert crawler.spider is not None
        self._spider = crawler.spider
        self._open = ExitStack()
        self._run, perceiver = self._open.enter_context(start_or_resume(config, directory))
        self._reader = SwitchingReader(reader_plan(self._run, perceiver))
        seeds = [url for url in map(canonical, config.topic.seeds) if url]
        self._seed_sites = {site_of(url, config.crawl.site) for url in seeds}
        self._starts = StartRequests(seeds, own=bool(getattr(self._spider, "start_urls", None)))
        self._following = LinkFilter(
            crawler, self._spider, Identity(config.live.drop_parameters), directory
        )
        self._own = Scheduler.from_crawler(crawler)
        crawl, site_by = self._run.recorded, config.crawl.site
        politeness = PolitenessClock(stricter_politeness(config.live, crawler.settings))
        controller = make_controller(self._run, perceiver, self._reader, self._count)
        for site, until in crawl.journal.resting().items():
            now = time.monotonic()
            politeness.rest(site, now + until - time.time(), now)
        flights = Flights(
            *(crawl, politeness, bounded(config.crawl.in_flight), site_by, self._count),
            steering=controller,
            max_wait=config.live.max_wait,
        )
        self._reader.charge = flights.charge
        self._memory = restore_memory(config, crawl.journal)
        answers = ResponseHandler(
            *(flights, self._reader, self._memory, config.live.redirects),
            admit=self._following.admitted,
        )
        super().__init__(crawler, flights, answers, config.live.timeout)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        """The scheduler of a project, from its settings and its spider."""
        if _only_looks(crawler):
            return Scheduler.from_crawler(crawler)
        topic, run = (crawler.settings.get(name) for name in ("TRES_TOPIC", "TRES_RUN"))
        if not topic or not run:
            raise ConfigError("TRES_TOPIC and TRES_RUN: name a topic file and a directory there")
        seeds = getattr(crawler.spider, "start_urls", None)
        config = load_topic(topic).override(
            seeds=list(seeds) if seeds else None,
            in_flight=crawler.settings.getint("TRES_CONCURRENCY") or None,
            pages=crawler.settings.getint("TRES_PAGES") or None,
        )
        check_no_labels(config)
        if config.training.explores:
            raise ConfigError(
                'training.model = "auto" explores the Web first, which a spider cannot wait for; '
                "crawl once with 'tres crawl', then set training.load to that run's model/"
            )
        try:
            return cls(crawler, config, Path(run))
        except RunError as problem:
            problem.add_note(
                "in a Scrapy project, TRES_RUN names the run, and TRES_PAGES is --pages"
            )
            raise

    def __len__(self) -> int:
        """What waits to be fetched: requests of the spider, hops, seeds, links of the frontier."""
        session = self._run.session
        return len(self._own) + len(self._hops) + session.seeds_left + len(session.policy)

    def open(self, spider: Spider) -> Any:
        """Let Scrapy's own scheduler begin as well."""
        super().open(spider)
        self._robots = make_robots_strict(self._crawler)
        return self._own.open(spider)

    def close(self, reason: str) -> Deferred[None]:
        """Bring everything home and write the result."""
        super().close(reason)
        return deferred_from_coro(self._finished(reason))

    async def _finished(self, reason: str) -> None:
        self._own.close(reason)
        await self._reader.close()
        with self._open:
            try:
                if self._flights.fault is not None:
                    raise self._flights.fault
                stopped = self._flights.reason or StopReason.INTERRUPTED
                self._run.finish(stopped, self._memory.dropped + self._following.dropped)
            except TresError as problem:
                for line in (*problem.details, problem.message):
                    _log.error("tres: %s", line)

    def has_pending_requests(self) -> bool:
        """Is there more to come, by our choice or by the spider's?"""
        return self._own.has_pending_requests() or super().has_pending_requests()

    def enqueue_request(self, request: Request) -> bool:
        """A hop of ours, a seed that the crawl asks for itself, or the spider's own request."""
        if FLIGHT in request.meta:
            return self._may_hop(request) and super().enqueue_request(request)
        seed = self._starts.seed(request)
        if seed is None:
            return self._own.enqueue_request(request)
        flight = self._flights.get(seed)
        if flight is not None and flight in self._carriers:
            self._carriers[flight].meta[ASKED] = request  # too late for all but its callback
        elif not self._starts.take(seed, request):
            return self._own.enqueue_request(request)
        return True

    def _may_hop(self, request: Request) -> bool:
        """A redirect may lead off site only where the spider's own request may."""
        asked: Request = request.meta[ASKED]
        hop = asked.replace(url=request.url)
        flight = self._flights.get(request.meta[FLIGHT])
        if flight is None or self._following.permits(hop):
            return flight is not None
        self._flights.fail(flight, FailureKind.OFF_SITE, f"redirected to {request.url}")
        return False

    def next_request(self) -> Request | None:
        """What the spider has asked for comes first: it is little, and it waits for it."""
        return self._own.next_request() or super().next_request()

    def _take_off(self) -> Request | None:
        """The next flight that may depart, with the request that the spider would have made."""
        self._forget_forbidden()
        while (flight := self._next_flight()) is not None:
            request = self._request(flight)
            if not self._following.permits(request.meta[ASKED]):
                self._flights.fail(flight, FailureKind.OFF_SITE, "no longer in allowed_domains")
            else:
                self._carriers[flight] = request
                return request
        return None

    def _next_flight(self) -> Flight | None:
        starting = self._crawler.engine._start is not None
        if (flight := self._starts.ready(starting, time.monotonic())) is not None:
            return flight
        while (flight := self._flights.choose()) is not None:
            if not self._starts.wait(flight, starting):
                return flight
        return None

    def _request(self, flight: Flight) -> Request:
        seed = flight.url in self._starts
        asked = (self._starts if seed else self._following).request(flight.url)
        depth = self._run.session.clicks(flight.url)
        return sent(asked, flight, depth, self.arrived, self.failed)

    def _forget_forbidden(self) -> None:
        """Sites that the spider may not visit any more leave the crawl, except for seeds."""
        known = self._run.session.crawl.site_names
        sites = (site for site in known if site not in self._seed_sites)
        try:
            for site in self._following.newly_forbidden(sites):
                self._run.recorded.block(site)
        except TresError as fault:  # told when the run is closed
            self._flights.fault = fault

    async def arrived(self, response: Response, **known: Any) -> AsyncIterator[Any]:
        """Tell the crawl, then hand the spider what is its own, or was a step."""
        flight = self._flights.get(response.meta.get(FLIGHT))
        if flight is None:
            return
        percept = await self._answers.page(flight, response)
        if isinstance(percept, Request):
            self._crawler.engine.crawl(percept)
            return
        is_step = isinstance(percept, Percept)
        if not is_step and not self._is_wanted(flight, response):
            return
        assert response.request is not None
        asked = response.request = spider_request(response.request)
        relevance = percept.relevance if is_step else None
        response.meta["tres"] = {"relevance": relevance, "relevant": is_step and percept.relevant}
        callback = asked.callback or self._following.callback(response.url)
        async for result in results(callback(response, **known)):
            yield result

    def _is_wanted(self, flight: Flight, response: Response) -> bool:
        """Does the spider want a response though it is no step of the crawl?

        It asked for its start URLs itself, and named the errors that it handles.
        """
        return flight.url in self._starts or not 200 <= response.status < 300

    def failed(self, failure: Any) -> Any:
        """Tell the crawl, and then the errback that the spider's request has."""
        super().failed(failure)
        asked = failure.request = spider_request(failure.request)
        if isinstance(failure.value, HttpError):
            failure.value.response.request = asked
        return asked.errback(failure) if asked.errback else None

    def _keep_again(self, url: str) -> None:
        """A URL goes back to wait: keep what the spider has said of it."""
        for flight, request in self._carriers.items():
            if flight.url == url and url not in self._starts:
                self._following.keep_again(url, request.meta[ASKED])

    def _count(self, event: Event) -> None:
        """Scrapy's statistics tell of the crawl too."""
        match event:
            case Stepped(relevant=relevant):
                self._crawler.stats.inc_value("tres/pages")
                self._crawler.stats.inc_value("tres/relevant", int(relevant))
            case FetchFailed(kind=kind):
                self._crawler.stats.inc_value(f"tres/failed/{kind}")
            case Postponed(url=url, kind=kind):
                self._crawler.stats.inc_value(f"tres/postponed/{kind}")
                self._keep_again(url)
            case _:
                pass


def _only_looks(crawler: Crawler) -> bool:
    """Is this a command that looks at single pages: check, fetch, parse, view, shell?

    Such a command gives the spider a `start` of its own, or has an engine without a crawl.
    """
    start = getattr(type(crawler.spider), "start", None)
    commands = getattr(start, "__module__", "").startswith("scrapy.commands.")
    return commands or not crawler.crawling
