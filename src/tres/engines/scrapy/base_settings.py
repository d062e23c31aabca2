"""Scrapy without the parts that a crawl by tres does not use.

All spider middlewares and extensions are off:
there are no items, referrers or depths (the session counts clicks itself), and statistics are in
the journal. How many requests are in flight is decided by the scheduler alone. The downloader
middlewares are in `tres.engines.scrapy.network_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrapy.settings.default_settings import EXTENSIONS_BASE, SPIDER_MIDDLEWARES_BASE

Settings = dict[str, Any]


def base_settings() -> Settings:
    """Return the settings for a crawl that our scheduler drives."""
    return {
        "SCHEDULER": "tres.engines.scrapy.scheduler.CrawlScheduler",
        "SPIDER_MIDDLEWARES": dict.fromkeys(SPIDER_MIDDLEWARES_BASE),
        "EXTENSIONS": dict.fromkeys(EXTENSIONS_BASE),
        "CONCURRENT_ITEMS": 1,  # Scrapy makes that many tasks for every response
        "CONCURRENT_REQUESTS": 0,  # no limit but the scheduler's
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,  # the scheduler keeps delays, before a URL is chosen
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "STATS_DUMP": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
        "WARN_ON_GENERATOR_RETURN_VALUE": False,
    }


def merge_settings(*parts: Mapping[str, Any]) -> Settings:
    """Merge settings of several sources; tables are merged, later values win."""
    whole: Settings = {}
    for part in parts:
        for key, value in part.items():
            known = whole.get(key, {})
            tables = isinstance(known, Mapping) and isinstance(value, Mapping)
            whole[key] = {**known, **value} if tables else value
    return whole
