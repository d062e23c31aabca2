"""Other crawlers, each run once as its documentation says: `benchmarks/peers.py` calls this.

    PYTHON benchmarks/peer_crawlers.py crawlee < order.json

PYTHON is the interpreter of an environment that has the crawlers and needs nothing of tres:

    python -m venv peers && peers/bin/pip install 'crawlee[parsel]' crawl4ai

The order (`Order`, as JSON on standard input) names the proxy that serves the web, seeds, keywords
and how many pages to fetch. The server counts what was fetched; this prints the version that ran.
Nothing of the crawlers is changed. Delays between requests are off and robots.txt is not asked for.

- *crawlee*: `ParselCrawler`, which follows all links in the order in which it found them, so
  breadth-first; one request at a time, so that this order is exact.
- *Crawl4AI*: `BestFirstCrawlingStrategy` with `KeywordRelevanceScorer`, over HTTP instead of a
  browser (`AsyncHTTPCrawlerStrategy`). It takes the ten best URLs at a time, as its authors chose.
  It has one start URL, so the seeds are given as the waiting URLs of a crawl to resume.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version

MAX_DEPTH = 1_000_000
"""No limit."""


@dataclass(frozen=True)
class Order:
    """What to crawl."""

    proxy: str
    seeds: list[str]
    keywords: list[str]
    pages: int


def main() -> None:
    """Crawl once, and print the version of the crawler."""
    name = sys.argv[1]
    crawl, package = CRAWLERS[name]
    logging.disable(logging.WARNING)  # dead links are part of the web
    asyncio.run(crawl(Order(**json.load(sys.stdin))))
    print(f"{name} {version(package)}")


async def crawl_crawlee(order: Order) -> None:
    """Crawl breadth-first."""
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from crawlee.proxy_configuration import ProxyConfiguration
    from crawlee.storage_clients import MemoryStorageClient

    crawler = ParselCrawler(
        proxy_configuration=ProxyConfiguration(proxy_urls=[order.proxy]),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(max_concurrency=1, desired_concurrency=1),
        configure_logging=False,
    )
    pages = 0

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        nonlocal pages
        pages += 1
        await context.enqueue_links(strategy="all")
        if pages == order.pages:
            crawler.stop()

    await crawler.run(order.seeds)


async def crawl_crawl4ai(order: Order) -> None:
    """Crawl best-first, by keywords in URLs."""
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, ProxyConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
    from crawl4ai.deep_crawling import BestFirstCrawlingStrategy
    from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer

    scorer = KeywordRelevanceScorer(keywords=order.keywords)
    waiting = [
        {"score": -scorer.score(seed), "depth": 0, "url": seed, "parent_url": None}
        for seed in order.seeds
    ]
    strategy = BestFirstCrawlingStrategy(
        max_depth=MAX_DEPTH,
        max_pages=order.pages,
        include_external=True,
        url_scorer=scorer,
        resume_state={"queue_items": waiting, "depths": dict.fromkeys(order.seeds, 0)},
    )
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy,
        proxy_config=ProxyConfig(server=order.proxy),
        cache_mode=CacheMode.BYPASS,
        mean_delay=0.0,
        max_range=0.0,
        verbose=False,
    )
    fetching = AsyncHTTPCrawlerStrategy()
    async with AsyncWebCrawler(crawler_strategy=fetching, verbose=False) as crawler:
        await crawler.arun(order.seeds[0], config=config)


Crawl = Callable[[Order], Awaitable[None]]
CRAWLERS: dict[str, tuple[Crawl, str]] = {
    "crawlee": (crawl_crawlee, "crawlee"),
    "Crawl4AI": (crawl_crawl4ai, "crawl4ai"),
}
"""By name: how to crawl, and the package whose version is printed."""

if __name__ == "__main__":
    main()
