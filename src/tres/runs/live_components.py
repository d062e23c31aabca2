"""Components of a live run, shared by `tres crawl` and the Scrapy plug-in.

Checks of what the live Web demands of a topic and an archive does not, Scrapy's settings, the
process that reads pages, the memory of pages read so far, the controller that carries out orders,
and the archive of raw pages.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tres.crawl.events import Event
from tres.engines.browser.playwright_settings import browser_settings
from tres.engines.network.addresses import AddressGuard
from tres.engines.reading.duplicates_and_traps import DuplicatesAndTraps
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.switching_reader import SwitchingReader
from tres.engines.scrapy.live_loop import LiveLoop, run_live
from tres.engines.scrapy.logs import logging_to
from tres.engines.scrapy.network_settings import (
    PROXY_SECONDS,
    base_settings,
    merge_settings,
    network_settings,
    user_agent,
)
from tres.errors import ConfigError
from tres.runs.open_run import MakeWarc, OpenRun
from tres.runs.refits import model_source
from tres.settings.topic_file import TopicConfig
from tres.store.journal import Journal
from tres.store.model_versions import MODEL
from tres.store.run_controller import RunController, Switched
from tres.store.warc_writer import WarcStore, about_crawl
from tres.topic.topic_terms import match_words
from tres.web.percept import Perceiver

T = TypeVar("T")


def check_live(config: TopicConfig) -> None:
    """Raise a `ConfigError` if this topic cannot be crawled on the live Web."""
    check_no_labels(config)
    if not config.live.contact and not config.live.proxy:
        raise ConfigError(
            "live.contact is missing: sites must be able to reach whoever crawls them; write "
            'contact = "https://you.example/crawler" (or a mail address) under [live], '
            "or give --contact; to crawl an archive, name it with --web"
        )
    if config.live.proxy:
        _check_proxy(config.live.proxy)


def check_no_labels(config: TopicConfig) -> None:
    """Raise a `ConfigError` if the examples come from labels, which only archives have."""
    if config.training.labels:
        raise ConfigError(
            "training.labels: the live Web has no labels; name an archive with --web, give "
            'positives and negatives, load a model, or set model = "auto" without labels'
        )


def _check_proxy(proxy: str) -> None:
    """Connect to the proxy: if it were down, every site would look as if it were."""
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


def in_live_loop(main: Callable[[LiveLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine that crawls; once per process, because Twisted's reactor cannot restart."""
    with logging_to(None):
        return run_live(main)


def scrapy_settings(config: TopicConfig) -> dict[str, Any]:
    """Return all of Scrapy's settings for a crawl."""
    permits = AddressGuard(config.live.allow).permits
    return merge_settings(
        base_settings(),
        network_settings(config.live, config.crawl.site),
        browser_settings(config.live, permits),
    )


def reader_plan(run: OpenRun, perceiver: Perceiver, model: Path | None = None) -> ReaderPlan:
    """Return how the reading process judges pages: with the run's model, or another one."""
    config, expansion = run.config, perceiver.expansion
    return ReaderPlan.with_model(
        model or run.directory / MODEL,
        match_words(config.topic),
        config.topic.phrases,
        config.live,
        this_year(),
        config.crawl.site,
        () if expansion is None else expansion.words,
        perceiver.learns,
    )


def this_year() -> int:
    """Return the year by which readers recognise endless calendars."""
    return datetime.now(UTC).year


def restore_memory(config: TopicConfig, journal: Journal) -> DuplicatesAndTraps:
    """Return the memory of the pages that a crawl has read so far, from its journal."""
    memory = DuplicatesAndTraps(config.live)
    for links, fingerprint in journal.links_and_fingerprints():
        memory.remember(links, fingerprint)
    return memory


def make_controller(
    run: OpenRun, perceiver: Perceiver, reader: SwitchingReader, notify: Callable[[Event], None]
) -> RunController:
    """Return the controller of a run whose pages this reader reads."""

    def switch_model(model: Path, switched: Switched) -> None:
        def between() -> ReaderPlan:
            switched(None)
            return reader_plan(run, perceiver)

        reader.switch_soon(reader_plan(run, perceiver, model), between, switched)

    steps = run.session.steps
    refits = model_source(run.directory, run.config, steps, beside=True, learns=run.learns)
    return RunController(run.recorded, switch_model, notify, refits)


def warc_maker(config: TopicConfig) -> MakeWarc | None:
    """Return what opens the archive of raw pages; None if they are not kept."""
    if config.live.keep == "nothing":
        return None
    about = about_crawl(config.live, user_agent(config.live))
    return lambda directory: WarcStore(directory, about)
