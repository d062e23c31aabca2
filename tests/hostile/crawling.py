"""One `tres crawl` over the hostile web, watched from outside: memory, requests, connections."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile import good
from tests.hostile.case import all_cases
from tests.hostile.server import hostile_web

ROOT = Path(__file__).parents[2]
PER_SITE = 12
GOAL = good.SITES * PER_SITE * 9 // 10
"""Good pages that are counted: nearly all that the cap lets a crawl have."""
MOST_SECONDS = 300.0
LIVE: dict[str, Any] = {
    "contact": "crawler@example.org",
    "delay": 0.8,
    "timeout": 8.0,
    "retries": 1,
    "max_wait": 20.0,
    "allow": ["127.0.0.0/8"],
}
"""The defaults, but for what would take too long: they are 1, 30, 2 and 300."""
IN_FLIGHT = 64
"""Every good site can be asked while some forty others keep a crawler waiting."""


@dataclass(frozen=True)
class Request:
    """A line of the server's log."""

    at: float
    host: str
    path: str


@dataclass(frozen=True)
class Crawled:
    """What a crawl has left, and what was seen of it."""

    port: int
    run: Path
    code: int
    terminal: str
    peak_bytes: int
    starved: list[tuple[float, float]]
    requests: list[Request]
    connections: set[str]

    @property
    def reported(self) -> dict[str, str]:
        """What became of each URL that was asked for: "page", or the kind of its failure."""
        failed = {row["url"]: row["kind"] for row in self.rows("failures.csv")}
        return dict(self._postponed()) | failed | dict.fromkeys(self._asked(), "page")

    def _postponed(self) -> Iterator[tuple[str, str]]:
        """What failed with its site, and would be asked for again."""
        from tres.store.journal import JOURNAL, Journal

        with Journal.open(self.run / JOURNAL) as journal:
            yield from ((row["url"], row["kind"]) for row in journal.postponed())

    def _asked(self) -> Iterator[str]:
        from tres.store.journal import JOURNAL, Journal

        with Journal.open(self.run / JOURNAL) as journal:
            for row in journal.pages():
                yield row["asked"]

    @property
    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.run / "summary.json").read_text()))

    @property
    def good_per_second(self) -> float:
        """The speed of the good part, from its first page to the last that counts here."""
        first, *_, last = [each.at for each in good_pages(self.requests)][:GOAL]
        return GOAL / (last - first)

    @property
    def good_per_second_if_served(self) -> float:
        """The same without the time in which the crawl was ready to run and got no processor;
        politeness set a limit that no processor can raise."""
        first, *_, last = [each.at for each in good_pages(self.requests)][:GOAL]
        waits = [wait for at, wait in self.starved if first <= at <= last]
        seconds = last - first - (waits[-1] - waits[0])
        return min(GOAL / max(seconds, 0.1), good.SITES / LIVE["delay"])

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.run / name).open() as file:
            return list(csv.DictReader(file))

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


def crawled(directory: Path, mischief: bool) -> Crawled:
    """Crawl from the good sites, which lead to all the others, or do not."""
    directory.mkdir()
    log, connections = directory / "log", directory / "connections"
    with hostile_web(log, *(() if mischief else ("--only-good",))) as port:
        topic = write_topic(directory, port)
        command = ["tests.hostile.child", connections, "crawl", topic, "--run", directory / "run"]
        with (directory / "terminal").open("w+") as terminal:
            process = subprocess.Popen(
                [sys.executable, "-m", *map(str, command)],
                stdout=terminal,
                stderr=terminal,
                cwd=ROOT,
            )
            try:
                peak, starved = watched(process, log, mischief)
            finally:
                process.kill()
                code = process.wait()
    said = (directory / "terminal").read_text(errors="surrogateescape")
    reached = set(connections.read_text().split())
    return Crawled(port, directory / "run", code, said, peak, starved, requests_of(log), reached)


def watched(
    process: subprocess.Popen[bytes], log: Path, mischief: bool
) -> tuple[int, list[tuple[float, float]]]:
    """Look on until the crawl ends, which is asked for when all is seen: its peak of memory,
    and by time how long it and the process that reads for it have waited for a processor."""
    peak, began, asked_to_end = 0, time.monotonic(), False
    starved: list[tuple[float, float]] = []
    waits: dict[int, float] = {}
    while process.poll() is None and time.monotonic() - began < MOST_SECONDS:
        peak = max(peak, memory_of(process.pid))
        for each in (process.pid, *children_of(process.pid)):
            with suppress(OSError):  # it may just have ended
                waited = Path(f"/proc/{each}/schedstat").read_text().split()[1]
                waits[each] = int(waited) / 1e9
        starved.append((time.time(), sum(waits.values())))
        if not asked_to_end and is_seen(requests_of(log), mischief):
            process.send_signal(signal.SIGINT)
            asked_to_end = True
        time.sleep(0.2)
    return peak, starved


def is_seen(requests: list[Request], mischief: bool) -> bool:
    """Is the good part done, and was every hostile host asked, if there are any?"""
    hostile = {case.host for case in all_cases()} if mischief else set()
    return len(good_pages(requests)) >= GOAL and hostile <= {each.host for each in requests}


def write_topic(directory: Path, port: int) -> Path:
    """A topic that knows the words of the good pages, and where to begin."""
    seeds = [f"http://{host}:{port}/" for host in good.hosts()]
    for kind, number in (("about", 0), ("other", 1)):
        (directory / kind).mkdir()
        for site in range(10):
            text = good.text_of(good.SITES + site, number)
            (directory / kind / f"{site}.txt").write_text(text)
    live = "\n".join(f"{key} = {json.dumps(value)}" for key, value in LIVE.items())
    path = directory / "topic.toml"
    path.write_text(
        f"[topic]\nkeywords = {json.dumps(good.KEYWORDS)}\nseeds = {json.dumps(seeds)}\n"
        f'[training]\npositives = "about"\nnegatives = "other"\n'
        f"[crawl]\npages = 5000\nin_flight = {IN_FLIGHT}\nmax_per_site = {PER_SITE}\n"
        f"[live]\n{live}\n"
    )
    return path


def requests_of(log: Path) -> list[Request]:
    """What the server was asked, in order."""
    lines = [line.split("\t") for line in log.read_text().splitlines() if line.endswith("-")]
    return [Request(float(at), host, path[1:-1]) for at, host, _, path, _ in lines]


def good_pages(requests: list[Request]) -> list[Request]:
    hosts = set(good.hosts())
    return [each for each in requests if each.host in hosts and each.path != "/robots.txt"]


def memory_of(process: int) -> int:
    """Bytes of memory of a process and its children, what they share counted once."""
    total = 0
    with suppress(OSError):  # it may just have ended
        total = sum(map(memory_of, children_of(process)))
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))
    return total


def children_of(process: int) -> list[int]:
    """The processes that a process has started and that are still there."""
    with suppress(OSError):  # it may just have ended itself
        return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]
    return []
