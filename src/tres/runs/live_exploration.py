"""Learning a topic on the live Web from keywords and seeds alone, before its crawl starts.

The pages fetched are logged in the run directory, so an exploration that was stopped continues
where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tres import __version__
from tres.crawl.events import StopReason
from tres.engines.exploration.exploration_session import ExplorationSession
from tres.engines.exploration.explore import ExploredPages, Explorer
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.reader_pool import ReaderPool
from tres.engines.scrapy.live_loop import LiveCrawl, LiveLoop
from tres.errors import TresError
from tres.runs.live_components import scrapy_settings, this_year
from tres.runs.topic_perceiver import (
    learn_topic,
    perceive_topic,
    seed_urls,
    topic_explorer,
    train_auto_model,
)
from tres.settings.topic_file import TopicConfig
from tres.store.exploration_log import ExplorationLog
from tres.store.run_directory import (
    command_to_resume,
    forget_exploration,
    write_config,
    write_errors,
)
from tres.web.percept import Perceiver

OnProgress = Callable[[int, int], None]
"""Receives the pages that an exploration has fetched, and its budget."""


async def explore_live_topic(
    loop: LiveLoop, config: TopicConfig, directory: Path, on_progress: OnProgress
) -> Perceiver:
    """Return the perceiver of a topic that the exploration has learnt."""
    pages = await _explore_logged(loop, config, directory, on_progress)
    try:
        explored = learn_topic(config, pages)
    except TresError:
        forget_exploration(directory)
        raise
    perceiver = perceive_topic(config, None, train_auto_model(config, explored))
    return replace(perceiver, guesses=explored.guesses)


async def _explore_logged(
    loop: LiveLoop, config: TopicConfig, directory: Path, on_progress: OnProgress
) -> ExploredPages:
    explorer = topic_explorer(config, seed_urls(config))
    with write_errors(directory), ExplorationLog(directory, exploration_digest(config)) as log:
        write_config(directory, config.to_toml())
        pages = await explore_live(loop, config, explorer, on_progress, log)
    if pages is None:
        raise TresError(
            "stopped while learning the topic; the pages fetched so far are kept; "
            f"continue: {command_to_resume(directory)}"
        )
    return pages


def exploration_digest(config: TopicConfig) -> str:
    """Return a digest of all that shapes an exploration; politeness may change in between.

    The comments of a topic file are left out: a release may word them anew.
    """
    live = config.live
    rules = (live.max_bytes, live.include, live.exclude, live.drop_parameters, live.languages)
    own = (*rules, live.traps, config.crawl.seed, config.crawl.site, __version__)
    settings = [*config.topic.to_toml(), *config.training.to_toml()]
    lines = [*(line for line in settings if not line.startswith("#")), *map(str, own)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


async def explore_live(
    loop: LiveLoop,
    config: TopicConfig,
    explorer: Explorer,
    on_progress: OnProgress = lambda pages, budget: None,
    log: ExplorationLog | None = None,
) -> ExploredPages | None:
    """Return the pages that an exploration finds on the Web; None if it is interrupted."""
    session = ExplorationSession(
        explorer,
        config.crawl.site,
        lambda pages: on_progress(pages, config.training.explore),
        () if log is None else log.answers,
        (lambda url, outcome: None) if log is None else log.add,
    )
    reader = ReaderPool(ReaderPlan.without_model(config.live, this_year(), config.crawl.site))
    live = LiveCrawl(
        session=session,
        reader=reader,
        site_by=config.crawl.site,
        max_hop_wait=config.live.timeout,
        redirects=config.live.redirects,
    )
    settings = scrapy_settings(config.override(sitemaps=False))  # pages alone
    try:
        while await loop.crawl(live, settings) is StopReason.SITES_DOWN:
            session.skip_site()
    finally:
        await reader.close()
    return session.pages
