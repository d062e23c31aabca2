"""Fetching pages around the seeds of a topic before there is a crawl: to check or to label them.

`tres init` and a teacher (`tres.runs.teacher`) look at them. What a teacher sees is logged, so that
an exploration that was stopped continues where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from tres import __version__
from tres.crawl.events import StopReason
from tres.engines.exploration.exploration_session import ExplorationSession
from tres.engines.exploration.explore import ExploredPages, Explorer
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.reader_pool import ReaderPool
from tres.engines.scrapy.live_loop import LiveCrawl, LiveLoop
from tres.runs.live_components import scrapy_settings, this_year
from tres.settings.topic_file import TopicConfig
from tres.store.exploration_log import ExplorationLog


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
    on_page: Callable[[int], None] = lambda pages: None,
    log: ExplorationLog | None = None,
) -> ExploredPages | None:
    """Return the pages that an exploration finds on the Web; None if it is interrupted."""
    session = ExplorationSession(
        explorer,
        config.crawl.site,
        on_page,
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
