"""Is robots.txt obeyed? A crawl by `tres`, judged by the log of the server alone.

    python benchmarks/robots.py [--pages 5000] [--delay 0.5] [--concurrency 32]

A generated web is served with a robots.txt on every host that forbids about a quarter of the
pages, by prefix, by pattern and with an exception, and asks for a delay. The crawl sets no delay
itself and knows its topic by keywords alone. Then the log shows how many
requests there were, how many of them were for forbidden pages (by rules that are repeated here in
plain Python), and how close together two requests to one host arrived. Log lines have the time of
arrival, so a busy machine shows: a delayed request arrives closer to the next one than they were
sent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.table import Table

from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving_process

WEB_PAGES, WEB_SEED = 40_000, 3
ROBOTS = """\
User-agent: *
Crawl-delay: {delay}
Disallow: /2011/
Disallow: /2008/
Allow: /2008/*2.html$
Disallow: /*7.html$
"""
TIMER = 0.01
"""Seconds: a timer and a loopback may be that imprecise."""


def is_forbidden(target: str) -> bool:
    """Whether ROBOTS forbids a path and its query, in plain Python."""
    if target.startswith("/2008/") and target.endswith("2.html"):
        return False
    return target.startswith(("/2011/", "/2008/")) or target.endswith("7.html")


@dataclass(frozen=True)
class Seen:
    """What the server's log shows about a crawl."""

    requests: int
    robots: int
    hosts: int
    forbidden: list[str]
    denied: int
    gaps: list[float]
    """Seconds between two requests to one host, robots.txt included, the shortest first."""

    def early(self, delay: float) -> int:
        """The number of requests that came too soon."""
        return sum(gap < delay - TIMER for gap in self.gaps)


def crawled(directory: Path, pages: int, delay: float, concurrency: int) -> Seen:
    """Serve, crawl, and read the log."""
    rules, log, run = directory / "robots.txt", directory / "log", directory / "run"
    rules.write_text(ROBOTS.format(delay=delay))
    web = f"generated:pages={max(WEB_PAGES, 8 * pages)},seed={WEB_SEED}"
    topic = write_topic(directory, pages)
    with serving_process(web, "--robots", str(rules), "--log", str(log)) as proxy:
        command = ["crawl", topic, "--proxy", proxy, "--run", run, "--concurrency", concurrency]
        subprocess.run(
            [sys.executable, "-m", "tres", *map(str, command)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    failures = json.loads((run / "summary.json").read_text())["failures"]
    return seen(log, failures.get("robots-denied", 0))


def write_topic(directory: Path, pages: int) -> Path:
    """A topic known by its keywords only."""
    web = GeneratedWeb(WEB_PAGES, WEB_SEED)
    path = directory / "topic.toml"
    path.write_text(
        f'[topic]\nkeywords = ["telescope", "comet"]\nseeds = {json.dumps(web.seeds())}\n'
        f'[crawl]\npages = {pages}\npolicy = "random"\n'
        '[live]\ndelay = 0.0\nthrottle = false\nkeep = "nothing"\nnear_duplicates = false\n'
    )
    return path


def seen(log: Path, denied: int) -> Seen:
    """The log in numbers."""
    arrivals: dict[str, list[float]] = defaultdict(list)
    targets = []
    for line in log.read_text().splitlines():
        at, host, _, url, _ = line.split("\t")
        arrivals[host].append(float(at))
        targets.append(urlunsplit(("", "", *urlsplit(url)[2:])))
    gaps = (b - a for times in arrivals.values() for a, b in pairwise(sorted(times)))
    return Seen(
        len(targets),
        targets.count("/robots.txt"),
        len(arrivals),
        list(filter(is_forbidden, targets)),
        denied,
        sorted(gaps),
    )


def show(told: Seen, delay: float) -> None:
    """The table."""
    table = Table("seen by the server", "", title="robots.txt")
    median = told.gaps[len(told.gaps) // 2]
    for name, value in (
        ("requests", f"{told.requests:,}"),
        ("of these robots.txt", f"{told.robots:,}"),
        ("hosts", f"{told.hosts:,}"),
        ("requests for what is forbidden", f"{len(told.forbidden):,}"),
        ("URLs that tres itself denied", f"{told.denied:,}"),
        ("pairs of requests to one host", f"{len(told.gaps):,}"),
        ("delay asked for, seconds", f"{delay}"),
        ("shortest, median", f"{told.gaps[0]:.4f}, {median:.4f}"),
        (f"more than {TIMER * 1000:.0f} ms too early", f"{told.early(delay):,}"),
    ):
        table.add_row(name, value)
    Console().print(table)
    for target in told.forbidden:
        print(f"forbidden: {target!a}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        told = crawled(Path(directory), options.pages, options.delay, options.concurrency)
    show(told, options.delay)
    sys.exit(bool(told.forbidden))


if __name__ == "__main__":
    main()
