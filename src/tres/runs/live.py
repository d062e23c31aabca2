"""A run on the live Web: topic file in, result out; and on from where a run has ended.

All of it is one coroutine (`tres.engines.scrapy.live_loop`): the exploration, if the topic is to be
learnt from keywords and seeds alone, and then the crawl. Pages are read in a process of their
own with the model that the run keeps, so a crawl that is resumed reads as the first one did.
"""

from __future__ import annotations

import hashlib
import logging
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tres import __version__
from tres.crawl.events import Event, StopReason
from tres.engines.browser.playwright_settings import browser_settings
from tres.engines.exploration.explore import Asking, Exploration
from tres.engines.exploration.exploring import Exploring
from tres.engines.network.addresses import AddressGuard
from tres.engines.network.open_files import bounded
from tres.engines.reading.duplicates_and_traps import CrawlMemory
from tres.engines.reading.reader_pool import ReaderPlan, Readers
from tres.engines.reading.switching_reader import SwitchingReader
from tres.engines.scrapy.base_settings import base_settings, merge_settings
from tres.engines.scrapy.live_loop import LiveCrawl, LiveLoop, run_live
from tres.engines.scrapy.logs import LOG, logging_to
from tres.engines.scrapy.network_settings import PROXY_SECONDS, network_settings, user_agent
from tres.errors import ConfigError, TresError
from tres.policies.registry import OwnPolicy
from tres.runs.no_labels import ask_topic, auto_model, learn_topic
from tres.runs.resuming import resumable, resume_run
from tres.runs.start import Listener, OpenRun, Result, start_run
from tres.runs.topic_perceiver import perceive_topic, seed_urls
from tres.settings.topic_file import TopicConfig
from tres.store.exploration_log import EXPLORATION, ExplorationLog
from tres.store.journal import JOURNAL, Journal
from tres.store.model_versions import MODEL
from tres.store.recorded_session import Warc, command_to_resume, writing
from tres.store.run_controller import RunController, Switched
from tres.store.run_directory import (
    claimed,
    forget_exploration,
    prepare,
    refuse_taken,
    write_config,
)
from tres.store.warc_writer import WarcStore, about_crawl
from tres.web.percept import Perceiver

T = TypeVar("T")

_log = logging.getLogger(__name__)

Watch = Callable[[int, int], None]
"""Is told how many pages an exploration has fetched, and how many it may."""


def crawl_live(
    config: TopicConfig,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    watch: Watch = lambda pages, of: None,
    own: OwnPolicy | None = None,
) -> Result:
    """Crawl the Web to the end and write the run directory; once in a process."""
    refuse_taken(directory, overwrite, config.training.explores)
    refuse_impossible(config)
    return in_live_loop(
        lambda loop: live_run(loop, config, directory, listener, overwrite, watch, own)
    )


async def live_run(
    loop: LiveLoop,
    config: TopicConfig,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    watch: Watch = lambda pages, of: None,
    own: OwnPolicy | None = None,
) -> Result:
    """One crawl, for whoever has a loop to run several in."""
    explores, make = config.training.explores, archive_of(config)
    with _exploring(directory, overwrite) if explores else nullcontext():
        perceiver = await _perceiver(loop, config, directory, watch)
        with start_run(
            config, perceiver, directory, overwrite=overwrite, warc=make, own=own, is_ours=explores
        ) as run:
            (directory / EXPLORATION).unlink(missing_ok=True)
            return await _crawled(loop, run, perceiver, listener)


@contextmanager
def _exploring(directory: Path, overwrite: bool) -> Iterator[None]:
    """The directory is ours from the first page of the exploration on."""
    prepare(directory, overwrite, explored=True)
    with claimed(directory):
        yield


@contextmanager
def open_run(config: TopicConfig, directory: Path) -> Iterator[tuple[OpenRun, Perceiver]]:
    """The run in a directory, gone on with if there is one, for whoever drives it."""
    if (directory / JOURNAL).exists():
        pages, requests = config.crawl.pages, config.crawl.requests
        with resume_run(directory, pages, requests=requests, warc=archive_of(config)) as run:
            yield run, perceive_topic(run.config, None, run.model)
    else:
        perceiver = perceive_topic(config, None)
        with start_run(config, perceiver, directory, warc=archive_of(config)) as run:
            yield run, perceiver


def resume_live(
    directory: Path,
    pages: int | None = None,
    listener: Listener = lambda session, event: None,
    own: OwnPolicy | None = None,
    requests: int | None = None,
    **changes: object,
) -> Result:
    """Go on with a run on the live Web; `changes` are settings for the rest of it."""
    config = resumable(directory, pages).config.override(requests=requests, **changes)
    refuse_impossible(config)

    async def main(loop: LiveLoop) -> Result:
        archive = archive_of(config)
        with resume_run(directory, pages, requests=requests, warc=archive, own=own) as opened:
            run = replace(opened, config=config)
            perceiver = perceive_topic(run.config, None, run.model)
            return await _crawled(loop, run, perceiver, listener)

    return in_live_loop(main)


def refuse_impossible(config: TopicConfig) -> None:
    """What the live Web asks for and an archive does not, told before anything starts."""
    refuse_labels(config)
    if not config.live.contact and not config.live.proxy:
        raise ConfigError(
            "live.contact is missing: sites must be able to reach whoever crawls them; write "
            'contact = "https://you.example/crawler" (or a mail address) under [live], '
            "or give --contact; to crawl an archive, name it with --web"
        )
    if config.live.proxy:
        _refuse_silent(config.live.proxy)


def _refuse_silent(proxy: str) -> None:
    """A proxy that is not there would make every site look as if it were not there."""
    try:
        parts = urlsplit(proxy)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname, port), PROXY_SECONDS).close()
    except (OSError, ValueError) as problem:  # no address, no connection; no such port
        why = getattr(problem, "strerror", None) or problem
        raise ConfigError(
            f"live.proxy: nothing answers at {proxy} ({why}); start the proxy, or name another "
            "with --proxy"
        ) from None


def refuse_labels(config: TopicConfig) -> None:
    """Examples by label come from an archive."""
    if config.training.labels:
        raise ConfigError(
            "training.labels: the live Web has no labels; name an archive with --web, give "
            'positives and negatives, load a model, or set model = "auto" without labels'
        )


def live_settings(config: TopicConfig) -> dict[str, Any]:
    """All of Scrapy's settings for a crawl, assembled in this one place."""
    permits = AddressGuard(config.live.allow).permits
    return merge_settings(
        base_settings(),
        network_settings(config.live, config.crawl.site),
        browser_settings(config.live, permits),
    )


def in_live_loop(main: Callable[[LiveLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine that crawls; once in a process, because its reactor cannot start again."""
    with logging_to(None):
        return run_live(main)


async def _perceiver(
    loop: LiveLoop, config: TopicConfig, directory: Path, watch: Watch
) -> Perceiver:
    """The topic as a way of seeing, learnt from the Web itself if there is nothing else."""
    if not config.training.explores:
        return perceive_topic(config, None)
    found = await _explored(loop, config, directory, watch)
    try:
        explored = learn_topic(config, found)
    except TresError:
        forget_exploration(directory)
        raise
    perceiver = perceive_topic(config, None, auto_model(config, explored))
    return replace(perceiver, guesses=explored.guesses)


async def _explored(
    loop: LiveLoop, config: TopicConfig, directory: Path, watch: Watch
) -> Exploration:
    """What an exploration finds on the Web; what it has fetched is kept if it is stopped."""
    asking = ask_topic(config, seed_urls(config))
    with (
        writing(directory),
        ExplorationLog(directory, exploration_digest(config)) as log,
    ):
        write_config(directory, config.to_toml())
        found = await explored_live(loop, config, asking, watch, log)
    if found is None:
        raise TresError(
            "stopped while the topic was learnt; the pages fetched for it are kept, "
            f"go on: {command_to_resume(directory)}"
        )
    return found


def exploration_digest(config: TopicConfig) -> str:
    """Identity of all that shapes an exploration: politeness may change in between."""
    live = config.live
    rules = (live.max_bytes, live.include, live.exclude, live.drop_parameters, live.languages)
    own = (*rules, live.traps, config.crawl.seed, config.crawl.site, __version__)
    lines = [*config.topic.to_toml(), *config.training.to_toml(), *map(str, own)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


async def explored_live(
    loop: LiveLoop,
    config: TopicConfig,
    asking: Asking,
    watch: Watch = lambda pages, of: None,
    log: ExplorationLog | None = None,
) -> Exploration | None:
    """What an exploration finds on the Web; nothing if it is interrupted."""
    exploring = Exploring(
        asking,
        config.crawl.site,
        lambda pages: watch(pages, config.training.explore),
        () if log is None else log.answers,
        (lambda url, outcome: None) if log is None else log.add,
    )
    reader = Readers(ReaderPlan.exploring(config.live, _this_year(), config.crawl.site))
    live = LiveCrawl(
        crawl=exploring,
        reader=reader,
        site_by=config.crawl.site,
        patience=config.live.timeout,
        redirects=config.live.redirects,
    )
    settings = live_settings(config.override(sitemaps=False))  # pages alone
    try:
        while await loop.crawl(live, settings) is StopReason.SITES_DOWN:
            exploring.pass_over()
    finally:
        await reader.close()
    return exploring.found


async def _crawled(
    loop: LiveLoop, run: OpenRun, perceiver: Perceiver, listener: Listener
) -> Result:
    """Drive an open run to its end."""
    config = run.config
    memory = remembered(config, run.crawling.journal)
    reader = SwitchingReader(reader_plan(run, perceiver))

    def tell(event: Event) -> None:
        listener(run.session, event)

    try:
        await reader.start()
        live = LiveCrawl(
            crawl=run.crawling,
            reader=reader,
            in_flight=bounded(config.crawl.in_flight),
            site_by=config.crawl.site,
            patience=config.live.timeout,
            resting=run.crawling.journal.resting(),
            redirects=config.live.redirects,
            memory=memory,
            listener=tell,
            steering=controller_of(run, perceiver, reader, tell),
        )
        with logging_to(run.directory / LOG):
            reason = await loop.crawl(live, live_settings(config))
            _tell_dropped(memory.dropped + run.session.dropped)
    finally:
        await reader.close()
    return run.finish(reason, memory.dropped)


def _tell_dropped(dropped: Counter[str]) -> None:
    """Say in the log which rules and limits have kept links out, and how many."""
    if counts := dropped.most_common():
        told = ", ".join(f"{count:,} by the rule {rule!r}" for rule, count in counts)
        _log.warning("links that were not followed: %s", told)


def controller_of(
    run: OpenRun, perceiver: Perceiver, reader: SwitchingReader, tell: Callable[[Event], None]
) -> RunController:
    """Who steers a run whose pages this reader reads."""

    def switch(place: Path, switched: Switched) -> None:
        def between() -> ReaderPlan:
            switched(None)
            return reader_plan(run, perceiver)

        reader.switch_soon(reader_plan(run, perceiver, place), between, switched)

    return RunController(run.crawling, switch, tell)


def reader_plan(run: OpenRun, perceiver: Perceiver, model: Path | None = None) -> ReaderPlan:
    """How the reading process sees: through the model that the run keeps, or another one."""
    config, expansion = run.config, perceiver.expansion
    found = () if expansion is None else expansion.words
    return ReaderPlan.saved(
        model or run.directory / MODEL,
        config.topic.keywords,
        config.topic.phrases,
        config.live,
        _this_year(),
        config.crawl.site,
        found,
    )


def remembered(config: TopicConfig, journal: Journal) -> CrawlMemory:
    """What a crawl has read so far: the fold of its steps, as the journal tells them."""
    memory = CrawlMemory(config.live)
    for links, fingerprint in journal.read_before():
        memory.recall(links, fingerprint)
    return memory


def archive_of(config: TopicConfig) -> Callable[[Path], Warc] | None:
    """Where raw pages go, if they are kept."""
    if config.live.keep == "nothing":
        return None
    about = about_crawl(config.live, user_agent(config.live))
    return lambda directory: WarcStore(directory, about)


def _this_year() -> int:
    return datetime.now(UTC).year
