"""Live crawling compared with plain Scrapy: speed, processor time, memory, on the same server.

    python benchmarks/live.py [WEB ...] [--topic FILE] [--pages 2000] [--repetitions 3] [--robots]

Every WEB (an archive by its path, with a topic file that says which labels are relevant, or
`generated:...`) is served by `tres serve` in its own process, without delays. Two crawlers start
from the same page, with the same number of requests at once, no delay, and robots.txt obeyed by
both or by neither:

- `scrapy` is a quick script: it follows all links that its LinkExtractor finds, keeps nothing, and
  has no log, no cookies, no retries;
- `tres` is `tres crawl` with its defaults: the learner chooses, the default model (trained before,
  on the web's labels) judges every page and link, journal and WARC files are written.

They alternate, each run in a new process. Time and processor time count from the first page to the
last; those of `tres` include the process that reads its pages, and those of the server belong to
neither. Dead links cost time but are not pages. The same model judges relevance for both. Figures
depend on the machine, and times on its other work: read the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import ProxyHandler, build_opener

from rich.console import Console
from rich.table import Table

from tres.engines.reading.page_reader import PageReader, Received
from tres.errors import ConfigError, printable
from tres.offline import GeneratedWeb, open_web
from tres.offline.serving import serving_process
from tres.offline.web import Web
from tres.runs.live_run import crawl_live
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.percept import Perceiver, Percept

WEBS = ("generated:pages=20000,seed=1",)
SEED_CANDIDATES = 200
BASELINE = "scrapy"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Task:
    """The input of every crawler, as plain values for another process."""

    proxy: str
    seed: str
    pages: int
    concurrency: int
    robots: bool
    topic: str
    scratch: str


@dataclass(slots=True)
class Measured:
    """The cost of a crawl; failures are answers without a page."""

    pages: int
    failures: int
    relevant: int
    seconds: float
    cpu: float
    peak_mb: float

    @property
    def speed(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds

    @property
    def relevant_speed(self) -> float:
        """Relevant pages per second."""
        return self.relevant / self.seconds

    @property
    def thrift(self) -> float:
        """Pages per second of processor time."""
        return self.pages / self.cpu


class Watch:
    """Time, processor time and memory of this process and its children, from the first page on."""

    def __init__(self) -> None:
        self._begin: tuple[float, float] | None = None
        self._end = (0.0, 0.0)

    def page(self, last: bool) -> None:
        """Count a page; the last one ends the measurement."""
        if self._begin is None:
            self._begin = (time.perf_counter(), _cpu())
        if last:
            self._end = (time.perf_counter(), _cpu())

    def measured(self, pages: int, failures: int, relevant: int = 0) -> Measured:
        """The figures, at the end."""
        assert self._begin is not None
        seconds, cpu = (end - begin for end, begin in zip(self._end, self._begin, strict=True))
        return Measured(pages, failures, relevant, seconds, cpu, _peak_mb())


def _processes() -> list[int]:
    own = os.getpid()
    children = [
        int(child)
        for task in Path(f"/proc/{own}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [own, *children]


def _cpu() -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2] for pid in _processes()]
    return sum(sum(map(int, told.split()[11:13])) for told in fields) / TICKS


def _peak_mb() -> float:
    lines = [
        line
        for pid in _processes()
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    ]
    return sum(int(line.split()[1]) for line in lines) / 1024


def crawl_with_tres(task: Task) -> Measured:
    """`tres crawl` in this process and the one that reads its pages."""
    config = load_topic(task.topic).override(
        seeds=[task.seed],
        pages=task.pages,
        in_flight=task.concurrency,
        proxy=task.proxy,
        robots=task.robots,
        delay=0.0,
        throttle=False,
        per_site=task.concurrency,
    )
    watch, found = Watch(), []

    def listener(session: Any, event: Any) -> None:
        watch.page(session.steps == task.pages)
        if session.steps == task.pages and not found:
            found.append(watch.measured(session.steps, 0, session.relevant))

    result = crawl_live(config, Path(task.scratch) / "run", listener, overwrite=True)
    if not found:
        raise ConfigError(f"only {result.summary['pages']} pages; ask for fewer with --pages")
    found[0].failures = sum(result.summary["failures"].values())
    return found[0]


def crawl_with_scrapy(task: Task) -> Measured:
    """Plain Scrapy in this process, until there are enough pages."""
    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.exceptions import CloseSpider
    from scrapy.http import HtmlResponse, Request, Response
    from scrapy.linkextractors import LinkExtractor

    urls: list[str] = []
    failures: list[str] = []
    watch, found = Watch(), []

    class Plain(Spider):
        name = "plain"
        handle_httpstatus_all = True
        links = LinkExtractor()

        async def start(self) -> Any:
            yield Request(task.seed)

        def parse(self, response: Response, **_: Any) -> Iterator[Request]:
            if response.status != 200 or not isinstance(response, HtmlResponse):
                failures.append(response.url)
                return
            urls.append(response.url)
            watch.page(len(urls) == task.pages)
            if len(urls) == task.pages:
                found.append(watch.measured(task.pages, len(failures)))
            if len(urls) >= task.pages:
                raise CloseSpider("enough")
            for link in self.links.extract_links(response):
                yield Request(link.url)

    process = CrawlerProcess(_hurried(task))
    process.crawl(Plain)
    process.start()
    if not found:
        raise ConfigError(f"only {len(urls)} pages; ask for fewer with --pages")
    (Path(task.scratch) / "urls.json").write_text(json.dumps(urls[: task.pages]))
    return found[0]


def _hurried(task: Task) -> dict[str, object]:
    return {
        "CONCURRENT_REQUESTS": task.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": task.concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "LOG_ENABLED": False,
        "LOG_INSTALL_ROOT_HANDLER": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": task.robots,
        "TELNETCONSOLE_ENABLED": False,
    }


CRAWLERS: dict[str, Callable[[Task], Measured]] = {
    BASELINE: crawl_with_scrapy,
    "tres": crawl_with_tres,
}
"""Who is compared; each runs one crawl in a process of its own."""


def in_process(name: str, task: Task) -> Measured:
    """One crawl of one crawler in a new process."""
    command = [sys.executable, __file__, "--as", name, json.dumps(asdict(task))]
    environment = os.environ | {"http_proxy": task.proxy, "https_proxy": task.proxy}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def judged(task: Task, perceiver: Perceiver) -> int:
    """How many of the pages that plain Scrapy has fetched are relevant, read as tres reads them."""
    reader = PageReader(perceiver, load_topic(task.topic).live, time.gmtime().tm_year)
    fetch = build_opener(ProxyHandler({"http": task.proxy})).open
    relevant = 0
    for url in json.loads((Path(task.scratch) / "urls.json").read_text()):
        with fetch(url) as answer:
            kind = answer.headers["Content-Type"]
            outcome = reader.read(Received(url, answer.status, kind, answer.read())).outcome
        relevant += isinstance(outcome, Percept) and outcome.relevant
    return relevant


def topic_of(web: Web, topic: Path | None) -> TopicConfig:
    """What to look for: the topic file, or the first topic of a generated web."""
    if topic is not None:
        return load_topic(topic)
    if not isinstance(web, GeneratedWeb):
        raise ConfigError("an archive needs --topic FILE, with labels that its pages have")
    name, keywords = next(iter(web.topics.items()))
    return TopicConfig(
        name=name,
        topic=TopicSection(keywords=keywords),
        training=TrainingSection(labels=(name,)),
    )


def seed_of(web: Web) -> str:
    """Where to start: a page with many links."""
    if isinstance(web, GeneratedWeb):
        return web.seeds()[0]
    return max(islice(web.pages(), SEED_CANDIDATES), key=lambda page: len(page.links)).url


def trained(config: TopicConfig, web: Web, scratch: Path) -> tuple[Path, Perceiver]:
    """A topic file for the live Web, which has no labels: the model is trained and kept."""
    perceiver = perceive_topic(config, web)
    perceiver.model.save(scratch / "model")
    topic = scratch / "topic.toml"
    topic.write_text(config.override(labels=[], load=scratch / "model").to_toml())
    return topic, perceiver


def measured(task: Task, perceiver: Perceiver, repetitions: int) -> dict[str, list[Measured]]:
    """Run all crawlers alternately, so that other load affects them alike."""
    runs: dict[str, list[Measured]] = {name: [] for name in CRAWLERS}
    for _ in range(repetitions):
        for name in CRAWLERS:
            runs[name].append(in_process(name, task))
        runs[BASELINE][-1].relevant = judged(task, perceiver)
    return runs


def table(web: str, runs: dict[str, list[Measured]]) -> Table:
    """Print medians, minima and maxima, and ratios of the medians."""
    result = Table("", *runs, "ratio", title=printable(web))
    for label, of, form in (
        ("pages", lambda run: run.pages, ",.0f"),
        ("failures", lambda run: run.failures, ",.0f"),
        ("relevant pages", lambda run: run.relevant, ",.0f"),
        ("pages/s", lambda run: run.speed, ".0f"),
        ("relevant pages/s", lambda run: run.relevant_speed, ".1f"),
        ("pages/s of processor time", lambda run: run.thrift, ".0f"),
        ("peak memory, MB", lambda run: run.peak_mb, ".0f"),
    ):
        result.add_row(label, *_row(runs.values(), of, form))
    return result


def _row(
    runs: Iterable[list[Measured]], of: Callable[[Measured], float], form: str
) -> Iterator[str]:
    values = [sorted(map(of, some)) for some in runs]
    for some in values:
        spread = f" ({some[0]:{form}}..{some[-1]:{form}})" if some[0] != some[-1] else ""
        yield f"{statistics.median(some):{form}}{spread}"
    baseline, own = (statistics.median(some) for some in values)
    yield f"{own / baseline:.2f}" if baseline else ""


def main() -> None:
    """Measure every web, or run as the crawler of one measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("webs", nargs="*", default=WEBS, metavar="WEB")
    parser.add_argument("--topic", type=Path, help="the topic file, for archives")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seed-url")
    parser.add_argument("--robots", action="store_true", help="both obey robots.txt")
    parser.add_argument("--as", nargs=2, dest="crawler", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawler:
        name, task = options.crawler
        print(json.dumps(asdict(CRAWLERS[name](Task(**json.loads(task))))))
        return
    for name in options.webs:
        with TemporaryDirectory() as scratch, serving_process(name) as proxy:
            web = open_web(name)
            topic, perceiver = trained(topic_of(web, options.topic), web, Path(scratch))
            task = Task(
                proxy,
                options.seed_url or seed_of(web),
                options.pages,
                options.concurrency,
                options.robots,
                str(topic),
                scratch,
            )
            Console().print(table(name, measured(task, perceiver, options.repetitions)))


if __name__ == "__main__":
    main()
