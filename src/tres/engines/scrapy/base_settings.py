"""Scrapy without what a crawl by tres has no use for.

A request goes through every middleware twice, so those that do nothing here are left out:
there are no items, no referrers, no depths (the crawl counts its own), no cache, no passwords.
What is left of Scrapy's own is what it is good at: timeouts, headers, retries, redirects,
compression, cookies. How many requests are under way is decided by the scheduler alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Settings = dict[str, Any]

_NO_MIDDLEWARES = (
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
    "scrapy.downloadermiddlewares.stats.DownloaderStats",
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware",
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
)
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
    """The settings that make Scrapy lean, quiet, and obedient to our scheduler."""
    return {
        "SCHEDULER": "tres.engines.scrapy.scheduler.CrawlScheduler",
        "DOWNLOADER_MIDDLEWARES": dict.fromkeys(_NO_MIDDLEWARES),
        "SPIDER_MIDDLEWARES": dict.fromkeys(_NO_SPIDER_MIDDLEWARES),
        "EXTENSIONS": {f"scrapy.extensions.{name}": None for name in _NO_EXTENSIONS},
        "CONCURRENT_ITEMS": 1,  # Scrapy makes as many tasks for every response
        "CONCURRENT_REQUESTS": 0,  # no limit but the scheduler's
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,  # kept by the scheduler, before a URL is chosen
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "STATS_DUMP": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
        "WARN_ON_GENERATOR_RETURN_VALUE": False,
    }


def merge_settings(*parts: Mapping[str, Any]) -> Settings:
    """Settings of several sources in one; tables are merged, later values win."""
    whole: Settings = {}
    for part in parts:
        for key, value in part.items():
            known = whole.get(key, {})
            tables = isinstance(known, Mapping) and isinstance(value, Mapping)
            whole[key] = {**known, **value} if tables else value
    return whole
