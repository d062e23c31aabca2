"""The Scrapy settings of a crawl: our scheduler, and everything between it and the page.

Parts of Scrapy that a crawl does not use are off, among them all spider middlewares and extensions:
there are no items, referrers or depths (the session counts clicks itself), and statistics are in
the journal. How many requests are in flight is decided by the scheduler alone.

What a polite and careful crawler does not do is turned off: delays and throttling per download slot
(the politeness clock decides before a request is made, so no delay counts twice), consoles that run
code, proxies from the environment, cookies, referrers, caches, and all schemes but http and https.

Cookies are off because a focused crawler reads each page once, as a stranger. Cookie jars would
grow with every site, make pages depend on the order of the crawl, and not survive an interruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrapy.settings.default_settings import (
    DEFAULT_REQUEST_HEADERS,
    EXTENSIONS_BASE,
    SPIDER_MIDDLEWARES_BASE,
)

from tres import __version__
from tres.engines.politeness.robots_txt import product_token
from tres.engines.scrapy.failures import RETRY_STATUSES
from tres.errors import ConfigError
from tres.settings.sections import LiveSection
from tres.web.url import SiteBy

Settings = dict[str, Any]

PROXY_SECONDS = 5.0
"""A proxy is near: one that accepts no connection within this time is down."""

_PART = "tres.engines.scrapy"
_SCRAPYS = "scrapy.downloadermiddlewares"

HANDLERS: dict[str, str | None] = {
    "http": f"{_PART}.guarded_handler.GuardedHandler",
    "https": f"{_PART}.guarded_handler.GuardedHandler",
    **dict.fromkeys(("data", "file", "ftp", "s3")),
}
MIDDLEWARES: dict[str, int | None] = {
    f"{_PART}.politeness_middleware.PolitenessMiddleware": 90,
    f"{_PART}.robots_middleware.RobotsMiddleware": 100,
    f"{_PART}.redirects_and_retries.FailureRetryMiddleware": 550,
    f"{_PART}.decompression.AcceptEncodingMiddleware": 590,
    f"{_PART}.capture.CaptureMiddleware": 595,
    f"{_PART}.redirects_and_retries.CheckedRedirectMiddleware": 600,
    # Those of Scrapy's that no setting in `OFF` turns off:
    f"{_SCRAPYS}.offsite.OffsiteMiddleware": None,
    f"{_SCRAPYS}.robotstxt.RobotsTxtMiddleware": None,
    f"{_SCRAPYS}.httpauth.HttpAuthMiddleware": None,
    f"{_SCRAPYS}.retry.RetryMiddleware": None,
}
"""docs/live.md says of each of Scrapy's downloader middlewares why it is on, replaced or off."""
OFF = (
    "AUTOTHROTTLE_ENABLED",
    "COMPRESSION_ENABLED",
    "COOKIES_ENABLED",
    "DOWNLOADER_STATS",
    "HTTPCACHE_ENABLED",
    "HTTPPROXY_ENABLED",
    "METAREFRESH_ENABLED",
    "REDIRECT_ENABLED",
    "REMOTE_CONTROL_ENABLED",
    "TELNETCONSOLE_ENABLED",
)


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


def user_agent(live: LiveSection) -> str:
    """Return the User-Agent header: the name of the crawler, and whom to write to."""
    name = live.user_agent or f"tres/{__version__}"
    return f"{name} (+{live.contact})" if live.contact else name


def request_headers(live: LiveSection) -> dict[str, str]:
    """Return the headers of every request: wanted languages in their order, others after them."""
    if not live.languages:
        return DEFAULT_REQUEST_HEADERS
    weights = [max(10 - place, 2) / 10 for place in range(len(live.languages))]
    ranges = [*zip(live.languages, weights, strict=True), ("*", 0.1)]
    accepted = ", ".join(f"{code};q={weight}" for code, weight in ranges)
    return {**DEFAULT_REQUEST_HEADERS, "Accept-Language": accepted}


def network_settings(live: LiveSection, site_by: SiteBy = "host") -> Settings:
    """Return the settings for a crawl of the Web; the scheduler decides how much is in flight."""
    if not live.contact and not live.proxy:
        raise ConfigError(
            "live.contact is missing: a crawler says whom to write to; set it to a web page "
            "or mail address of yours"
        )
    return {
        **dict.fromkeys(OFF, False),
        "TRES_LIVE": live,
        "TRES_SITE": site_by,
        "TRES_ALLOW": list(live.allow),
        "TRES_PROXY": live.proxy,
        "USER_AGENT": user_agent(live),
        "DEFAULT_REQUEST_HEADERS": request_headers(live),
        "ROBOTSTXT_OBEY": live.robots,
        "ROBOTSTXT_USER_AGENT": product_token(user_agent(live)),
        "DOWNLOAD_HANDLERS": HANDLERS,
        "DOWNLOADER_MIDDLEWARES": MIDDLEWARES,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": live.timeout,
        "DOWNLOAD_MAXSIZE": live.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
        "DNS_TIMEOUT": min(live.timeout, 10.0),
        "RETRY_ENABLED": live.retries > 0,
        "RETRY_TIMES": live.retries,
        "RETRY_HTTP_CODES": list(RETRY_STATUSES),
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        "RETRY_PRIORITY_ADJUST": 0,
        "REDIRECT_MAX_TIMES": live.redirects,
        "REFERRER_POLICY": "no-referrer",
        "HTTPERROR_ALLOW_ALL": True,
        "DEPTH_LIMIT": 0,
        "URLLENGTH_LIMIT": 0,
    }
