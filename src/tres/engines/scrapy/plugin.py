"""The scheduler for anybody's Scrapy project: tres decides where their spider goes.

    SCHEDULER = "tres.engines.scrapy.plugin.TresScheduler"
    TRES_TOPIC = "topic.toml"         # what to look for
    TRES_RUN = "runs/first"           # where the run is kept, and gone on with
    TRES_CONCURRENCY = 8              # pages in flight; the topic file's if it is not set
    TRES_PAGES = 1000                 # budget; the topic file's if it is not set

The spider's `start_urls` are the seeds, or else those of the topic file. tres fetches, reads and
judges pages and finds their links itself; each page that counts is then given to the spider's
`parse`, with `response.meta["tres"]` saying how relevant it is, and what `parse` yields goes the
usual way. Requests that the spider yields are fetched as asked for, by Scrapy's own scheduler
beside ours, and the learner hears nothing of them.

Robots.txt, user agent, retries and limits are those of the project: its settings are its own.
This module looks upwards, to the store and the topic: it is an entry point, as commands are.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import ExitStack
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import arg_to_iter

from tres.config import TopicConfig, load_topic
from tres.crawl.events import Event, FetchFailed, Stepped, StopReason
from tres.engines.flights import Flights
from tres.engines.manners import Manners
from tres.engines.scrapy.answers import Answers
from tres.engines.scrapy.scheduler import FLIGHT, CrawlScheduler
from tres.engines.switching import SwitchingReader
from tres.errors import ConfigError, TresError
from tres.experiment.live import helm_of, open_run, reader_plan, refuse_labels, remembered
from tres.web.percept import Percept
from tres.web.url import canonical

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

_log = logging.getLogger(__name__)


class TresScheduler(CrawlScheduler):
    """Our scheduler, Scrapy's own beside it, and the run that is kept meanwhile."""

    def __init__(self, crawler: Crawler, config: TopicConfig, directory: Path) -> None:
        self._open = ExitStack()
        self._run, perceiver = self._open.enter_context(open_run(config, directory))
        self._reader = SwitchingReader(reader_plan(self._run, perceiver))
        self._seeds = frozenset(map(canonical, config.topic.seeds))
        self._own = Scheduler.from_crawler(crawler)
        crawl, site_by = self._run.crawling, config.crawl.site
        k, manners = config.crawl.in_flight, Manners(config.live)
        helm = helm_of(self._run, perceiver, self._reader, self._count)
        flights = Flights(crawl, manners, k, site_by, self._count, steering=helm)
        self._memory = remembered(config, crawl.journal)
        answers = Answers(flights, self._reader, self._memory, config.live.redirects)
        super().__init__(crawler, flights, answers, config.live.timeout)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The scheduler of a project, from its settings and its spider."""
        topic, run = (crawler.settings.get(name) for name in ("TRES_TOPIC", "TRES_RUN"))
        if not topic or not run:
            raise ConfigError("TRES_TOPIC and TRES_RUN: name a topic file and a directory there")
        seeds = getattr(crawler.spider, "start_urls", None)
        config = load_topic(topic).override(
            seeds=list(seeds) if seeds else None,
            in_flight=crawler.settings.getint("TRES_CONCURRENCY") or None,
            pages=crawler.settings.getint("TRES_PAGES") or None,
        )
        refuse_labels(config)
        if config.training.explores:
            raise ConfigError(
                'training.model = "auto" explores the Web first, which a spider cannot wait for; '
                "crawl once with 'tres crawl', then set training.load to that run's model/"
            )
        return cls(crawler, config, Path(run))

    def open(self, spider: Spider) -> Any:
        """Let Scrapy's own scheduler begin as well."""
        super().open(spider)
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
                self._run.finish(stopped, self._memory.dropped)
            except TresError as problem:
                for line in (*problem.details, problem.message):
                    _log.error("tres: %s", line)

    def has_pending_requests(self) -> bool:
        """Is there more to come, by our choice or by the spider's?"""
        return self._own.has_pending_requests() or super().has_pending_requests()

    def enqueue_request(self, request: Request) -> bool:
        """A hop of ours, a seed that the crawl asks for itself, or the spider's own request."""
        if self._flights.get(request.meta.get(FLIGHT)) is not None:
            return super().enqueue_request(request)
        if request.meta.get("is_start_request") and canonical(request.url) in self._seeds:
            return True
        return self._own.enqueue_request(request)

    def next_request(self) -> Request | None:
        """What the spider has asked for comes first: it is little, and it waits for it."""
        return self._own.next_request() or super().next_request()

    async def arrived(self, response: Response) -> AsyncIterator[Any]:
        """Tell the crawl, then hand the page to the spider if it was a step."""
        flight = self._flights.get(response.meta.get(FLIGHT))
        if flight is not None:
            percept = await self._answers.page(flight, response)
            if isinstance(percept, Request):
                yield percept
            if not isinstance(percept, Percept):
                return
            told = {"relevance": percept.relevance, "relevant": percept.relevant}
            response.meta["tres"] = told
        assert self._crawler.spider is not None
        async for result in _each(self._crawler.spider.parse(response)):
            yield result

    def _count(self, event: Event) -> None:
        """Scrapy's statistics tell of the crawl too."""
        match event:
            case Stepped(relevant=relevant):
                self._crawler.stats.inc_value("tres/pages")
                self._crawler.stats.inc_value("tres/relevant", int(relevant))
            case FetchFailed(kind=kind):
                self._crawler.stats.inc_value(f"tres/failed/{kind}")
            case _:
                pass


async def _each(output: Any) -> AsyncIterator[Any]:
    """What a callback gives, in whichever of Scrapy's ways it does."""
    if isawaitable(output):
        output = await output
    if isinstance(output, AsyncIterator):
        async for result in output:
            yield result
    else:
        for result in arg_to_iter(output):
            yield result
