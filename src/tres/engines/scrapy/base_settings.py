"""Scrapy without the parts that a crawl by tres does not use.

Every response passes all spider middlewares and extensions, so those without an effect are off:
there are no items, referrers or depths (the session counts clicks itself), and statistics are in
the journal. How many requests are in flight is decided by the scheduler alone. The downloader
middlewares are in `tres.engines.scrapy.network_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Settings = dict[str, Any]

_NO_SPIDER_MIDDLEWARES = (
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
    "scrapy.spidermiddlewares.referer.RefererMiddleware",
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    "scrapy.spidermiddlewares.depth.DepthMiddleware",
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
)
_NO_EXTENSIONS = (
    "corestats.CoreStats",
    "logcount.LogCount",
    "telnet.TelnetConsole",
    "memusage.MemoryUsage",
    "memdebug.MemoryDebugger",
    "closespider.CloseSpider",
    "feedexport.FeedExporter",
    "logstats.LogStats",
    "spiderstate.SpiderState",
    "throttle.AutoThrottle",
    "remote_control.RemoteControl",
)


def base_settings() -> Settings:
    """Return the settings for a crawl that our scheduler drives."""
    return {
        "SCHEDULER": "tres.engines.scrapy.scheduler.CrawlScheduler",
        "SPIDER_MIDDLEWARES": dict.fromkeys(_NO_SPIDER_MIDDLEWARES),
        "EXTENSIONS": {f"scrapy.extensions.{name}": None for name in _NO_EXTENSIONS},
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
