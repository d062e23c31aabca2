"""Live crawling beside plain Scrapy: pages per second and memory, over one and the same server.

    python benchmarks/live.py [WEB ...] [--pages 2000] [--repetitions 3] [--seed-url URL]

Every WEB (an archive by its path, or `generated:...`) is served by `tres serve` in a process of
its own, without delays. Plain Scrapy follows all links that its LinkExtractor finds, in its own
order, with settings that somebody in a hurry would choose: as many requests at once as `tres`
has, no delay, no robots.txt, no log, no retries. The crawlers take turns, each run in a new
process, and the time counts from a crawler's first request to its last page. Dead links cost
time but are no pages. Figures depend on the machine; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table

from tres.errors import printable
from tres.webs import GeneratedWeb, open_web
from tres.webs.served import serving_process

WEBS = ("generated:pages=20000,seed=1",)
SEED_CANDIDATES = 200
BASELINE = "scrapy"


@dataclass(frozen=True, slots=True)
class Task:
    """What every crawler is given."""

    proxy: str
    seed: str
    pages: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What a crawl took; failures are answers that were no page."""

    pages: int
    failures: int
    seconds: float
    peak_mb: float

    @property
    def speed(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds if self.seconds else 0.0


def scrapy_run(task: Task) -> Measured:
    """Plain Scrapy in a process of its own."""
    command = [sys.executable, __file__, "--plain-scrapy", json.dumps(asdict(task))]
    environment = os.environ | {"http_proxy": task.proxy, "https_proxy": task.proxy}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


CRAWLERS: dict[str, Callable[[Task], Measured]] = {BASELINE: scrapy_run}
"""Who is compared; a crawler is a function that runs one crawl in a process of its own."""


def plain_scrapy(task: Task) -> Measured:
    """Crawl in this process, until there are enough pages or nothing is left to ask for."""
    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.exceptions import CloseSpider
    from scrapy.http import HtmlResponse, Request, Response
    from scrapy.linkextractors import LinkExtractor

    counts = {"pages": 0, "failures": 0}
    moments: list[float] = []

    class Plain(Spider):
        name = "plain"
        handle_httpstatus_all = True
        links = LinkExtractor()

        async def start(self) -> Any:
            moments.append(time.perf_counter())
            yield Request(task.seed)

        def parse(self, response: Response, **_: Any) -> Iterator[Request]:
            if response.status != 200 or not isinstance(response, HtmlResponse):
                counts["failures"] += 1
                return
            counts["pages"] += 1
            moments.append(time.perf_counter())
            if counts["pages"] >= task.pages:
                raise CloseSpider("enough")
            for link in self.links.extract_links(response):
                yield Request(link.url)

    process = CrawlerProcess(_hurried(task.concurrency), install_root_handler=False)
    process.crawl(Plain)
    process.start()
    pages = min(counts["pages"], task.pages)  # what was in flight at the end does not count
    seconds = moments[pages] - moments[0]
    return Measured(pages, counts["failures"], seconds, _peak_mb())


def _hurried(concurrency: int) -> dict[str, object]:
    return {
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "LOG_ENABLED": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seed_of(web: str) -> str:
    """Where to start: a page with many links."""
    opened = open_web(web)
    if isinstance(opened, GeneratedWeb):
        return opened.seeds()[0]
    return max(islice(opened.pages(), SEED_CANDIDATES), key=lambda page: len(page.links)).url


def measured(task: Task, repetitions: int) -> dict[str, list[Measured]]:
    """All crawlers in turns, so that what else the machine does meets them alike."""
    runs: dict[str, list[Measured]] = {name: [] for name in CRAWLERS}
    for _ in range(repetitions):
        for name, crawler in CRAWLERS.items():
            runs[name].append(crawler(task))
    return runs


def table(web: str, runs: dict[str, list[Measured]]) -> Table:
    """Medians; the ratio is that of the medians of pages/s."""
    columns = ("crawler", "pages", "failures", "pages/s", "slowest..fastest", "peak MB", "ratio")
    result = Table(*columns, title=printable(web))
    baseline = statistics.median(run.speed for run in runs[BASELINE])
    for name, all_runs in runs.items():
        speeds = sorted(run.speed for run in all_runs)
        middle = statistics.median(speeds)
        result.add_row(
            name,
            f"{all_runs[0].pages:,}",
            f"{all_runs[0].failures:,}",
            f"{middle:.0f}",
            f"{speeds[0]:.0f}..{speeds[-1]:.0f}",
            f"{max(run.peak_mb for run in all_runs):.0f}",
            f"{middle / baseline:.2f}" if baseline else "-",
        )
    return result


def main() -> None:
    """Measure every web, or be the crawler of one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("webs", nargs="*", default=WEBS, metavar="WEB")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seed-url")
    parser.add_argument("--plain-scrapy", metavar="TASK", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain_scrapy:
        print(json.dumps(asdict(plain_scrapy(Task(**json.loads(options.plain_scrapy))))))
        return
    for web in options.webs:
        with serving_process(web) as proxy:
            seed = options.seed_url or seed_of(web)
            task = Task(proxy, seed, options.pages, options.concurrency)
            Console().print(table(web, measured(task, options.repetitions)))


if __name__ == "__main__":
    main()
