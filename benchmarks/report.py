"""What the report of a large run costs: time to write it, its size, time until it can be used.

    python benchmarks/report.py [--pages 20000] [--run DIR]

Without --run, a generated web is crawled first (this takes some minutes), with times and statuses
as in a live crawl, and with titles and paths as long as those of the Web: about 70 characters
each. Its pages are kept as JSON lines, from which the report takes its extracts.

"Ready" is when the table of pages is there and can be sorted, counted from the moment when Chromium
opens the file; "painted" is the first contentful paint by the browser's own clock. "Sorted" and
"searched" are how long a click on a column head and a word in the search field take.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TextIO

from msgspec.structs import replace
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from tres.crawl.events import Fetch, StopReason
from tres.engines.browser.playwright_settings import find_chromium
from tres.engines.protocols import Fetched
from tres.engines.replay import PerceivedWeb
from tres.offline.generated.generator import GeneratedWeb
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader
from tres.runs.open_run import OpenRun, start_run
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.web.page import Page
from tres.web.percept import Percept

WEB = GeneratedWeb(100_000, 3)
TITLE = "{} | a longer name of the site that stands behind most titles"
PATH = "section/subsection/articles/2024/the-words-of-a-title-again-"
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Opened:
    """How long a browser took, in milliseconds."""

    ready: float
    painted: float
    sorted: float
    searched: float


def main() -> None:
    """Make a run, report on it, open the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--run", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory() as scratch:
        run = arguments.run or crawled(Path(scratch) / "run", arguments.pages)
        file = Path(scratch) / "report.html"
        began = time.perf_counter()
        reader = RunReader(run)
        read = time.perf_counter()
        file.write_text(report_page(reader), encoding="utf-8")
        written = time.perf_counter()
        times = [opened(file) for _ in range(REPEATS)]
        show(len(reader.pages), read - began, written - read, file.stat().st_size, times)


def crawled(directory: Path, pages: int) -> Path:
    """Make a run of that many pages that looks like a live one."""
    topic, keywords = next(iter(WEB.topics.items()))
    config = TopicConfig(
        name=f"large-{topic}",
        topic=TopicSection(keywords=keywords, seeds=tuple(WEB.seeds(topic, 5))),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(pages=pages),
    )
    seen = PerceivedWeb(WEB, perceive_topic(config, WEB))
    archive = directory.with_suffix(".jsonl")
    kept = PerceivedWeb(SimpleNamespace(path=archive, name=WEB.name), seen.perceiver)
    with (
        archive.open("w", encoding="utf-8") as texts,
        start_run(config, seen.perceiver, directory, offline=kept) as run,
    ):
        drive(run, seen, texts)
        run.finish(StopReason.BUDGET)
    return directory


def drive(run: OpenRun, seen: PerceivedWeb, texts: TextIO) -> None:
    """Fetch until the budget is spent, one page per tenth of a second of a simulated clock."""
    clock = 1.7e9
    while isinstance(demand := run.recorded.next(), Fetch):
        for url in demand.urls:
            clock += 0.1
            outcome = seen.perceive(url)
            title = TITLE.format(url.rpartition("/")[2])
            if isinstance(outcome, Percept):
                outcome = long(outcome)
                keep(texts, seen, url, outcome.url, title)
            run.recorded.receive(url, outcome, Fetched(clock, 0.3, 200, 40_000, title))


def keep(texts: TextIO, seen: PerceivedWeb, asked: str, url: str, title: str) -> None:
    """The text of a page, under the address that the crawl knows it by."""
    page = seen.web.fetch(asked)
    if isinstance(page, Page):
        texts.write(json.dumps({"url": url, "title": title, "text": page.text}) + "\n")


def long(percept: Percept) -> Percept:
    """The same page, redirected to a path of usual length."""
    host, _, path = percept.url.removeprefix("http://").partition("/")
    return replace(percept, url=f"http://{host}/{PATH}{path}")


@contextmanager
def browser_tab() -> Iterator[Tab]:
    """A fresh browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


def opened(file: Path) -> Opened:
    """Open the file in a fresh browser and use it."""
    with browser_tab() as tab:
        began = time.perf_counter()
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready] #page-table tbody tr")
        ready = 1000 * (time.perf_counter() - began)
        painted = tab.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        )
        sorting, searching = tab.evaluate(USED)
        return Opened(ready, painted, sorting, searching)


USED = """() => {
  const timed = (act) => {
    const from = performance.now();
    act();
    return performance.now() - from;
  };
  const search = document.getElementById("search");
  return [
    timed(() => document.querySelector("[data-key=relevance] button").click()),
    timed(() => { search.value = "title"; search.dispatchEvent(new Event("input")); }),
  ];
}"""


def show(pages: int, read: float, written: float, size: int, times: list[Opened]) -> None:
    """All figures; of the browser's the median and the worst."""
    table = Table("what", "median", "worst", title=f"{pages:,} pages")
    table.add_row("run read", f"{read:.2f} s", "")
    table.add_row("page made and written", f"{written:.2f} s", "")
    table.add_row("size", f"{size / 1e6:.2f} MB", "")
    for name in ("ready", "painted", "sorted", "searched"):
        values = sorted(getattr(each, name) for each in times)
        table.add_row(name, f"{values[len(values) // 2]:,.0f} ms", f"{values[-1]:,.0f} ms")
    Console().print(table)


if __name__ == "__main__":
    main()
