"""Is it hard to kill? A live crawl is killed again and again, and resumed each time.

A generated web is served by `tres serve` in its own process and crawled live twice, with the same
topic and seed: once undisturbed, and once killed at random moments (by the number of requests that
the server has seen, and a moment more; some are during the start of a crawl) and resumed. Only the
crawl itself is killed; the process that reads its pages must end by itself.

    python benchmarks/kill.py                                    # kill -9, one page in flight
    python benchmarks/kill.py --signal TERM
    python benchmarks/kill.py --concurrency 8
    python benchmarks/kill.py --whom reader                      # the process that reads pages
    python benchmarks/kill.py --learns --pages 60                # a crawl that teaches its model

What must hold, and is printed at the end: every outcome that existed at a kill exists in the end,
in the same place; no URL has two; the server was asked again only for what was in flight at a
kill; the WARC files hold every page once, complete; and, with one page in flight, `pages.csv` is
byte for byte that of the undisturbed crawl (if the crawl teaches its model, the moment at which a
new one is ready decides what it judges, so there this need not hold). A crawl whose readers are
killed continues by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory

from fastwarc.warc import ArchiveIterator, WarcRecordType

from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving_process
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_records import Demanded, Received
from tres.store.run_directory import PAGES
from tres.store.warc_writer import parts_of

LOADED = '[training]\nload = "model"\n'
POLL = 0.02
START = 2.0
"""Seconds in which a crawl that is to be killed while it starts is killed."""
PATIENCE = 120.0
"""Seconds that anything may take on a busy machine."""
ORPHAN_SECONDS = 20.0


@dataclass(frozen=True)
class Scene:
    """A served web and a topic for it; `log` has one line per request."""

    directory: Path
    proxy: str

    @property
    def log(self) -> Path:
        return self.directory / "requests.log"

    def crawl(self, run: Path, pages: int, k: int) -> list[str]:
        """The command that starts a crawl, or resumes it."""
        if (run / JOURNAL).exists():
            return tres("resume", run)
        topic = self.directory / "topic.toml"
        options = ("--proxy", self.proxy, "--pages", pages, "--concurrency", k)
        return tres("crawl", topic, "--run", run, "--overwrite", *options)

    def asked(self) -> int:
        """Requests so far, counted quickly."""
        content = self.log.read_bytes() if self.log.exists() else b""
        return content.count(b"\n") - content.count(b"/robots.txt\t")

    def requests(self) -> list[str]:
        """The requested URLs, in order, without robots.txt."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        urls = (line.split("\t")[3] for line in lines if line.count("\t") == 4)
        return [url for url in urls if not url.endswith("/robots.txt")]


def tres(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "tres", *map(str, arguments)]


@contextmanager
def served(directory: Path, web_pages: int, learns: bool = False) -> Iterator[Scene]:
    """A generated web on loopback, and a topic file with a model that was trained before.

    If the crawl `learns`, there is none: it teaches its own.
    """
    web = GeneratedWeb(web_pages, 1)
    topic, keywords = next(iter(web.topics.items()))
    seeds = tuple(web.seeds(topic, 3))
    config = TopicConfig(
        name="kill",
        topic=TopicSection(keywords=keywords, seeds=seeds),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(),
    )
    perceive_topic(config, web).model.save(directory / "model")
    (directory / "topic.toml").write_text(
        f'name = "kill"\n[topic]\nkeywords = {json.dumps(keywords)}\nseeds = {json.dumps(seeds)}\n'
        + ("" if learns else LOADED)
        + "[live]\ndelay = 0.0\nthrottle = false\nper_site = 8\n"
    )
    log = str(directory / "requests.log")
    with serving_process(f"generated:pages={web_pages},seed=1", "--log", log) as proxy:
        yield Scene(directory, proxy)


@dataclass(frozen=True)
class Kill:
    """One kill: what was recorded by then, and what was in flight."""

    outcomes: list[str]
    in_flight: list[str]
    orphans: int


@dataclass
class Ordeal:
    """A crawl that was killed and resumed, and what is wrong with it in the end."""

    run: Path
    kills: list[Kill] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def lost(self) -> int:
        """Kills after which a recorded outcome was gone, or moved."""
        end, _ = recorded(self.run)
        return sum(end[: len(kill.outcomes)] != kill.outcomes for kill in self.kills)

    def twice(self) -> list[str]:
        """URLs with more than one outcome."""
        return [url for url, times in Counter(recorded(self.run)[0]).items() if times > 1]

    def asked_in_vain(self) -> list[str]:
        """URLs requested more often than the kills explain."""
        explained = Counter(url for kill in self.kills for url in kill.in_flight)
        asked = Counter(self.requests)
        return [url for url, times in asked.items() if times > 1 + explained[url]]

    def orphans(self) -> int:
        """Processes that outlived their crawl."""
        return sum(kill.orphans for kill in self.kills)

    def warc_is_whole(self) -> bool:
        """Do the WARC files hold every step once, in order?"""
        with Journal.open(self.run / JOURNAL) as journal:
            return archived(self.run) == [row["asked"] for row in journal.pages()]


def recorded(run: Path) -> tuple[list[str], list[str]]:
    """URLs with an outcome, in order, and requested URLs without one."""
    outcomes: list[str] = []
    asked: dict[str, None] = {}
    if (run / JOURNAL).exists():
        with Journal.open(run / JOURNAL) as journal:
            for _, entry in journal.entries():
                if isinstance(entry, Demanded):
                    asked |= dict.fromkeys(entry.urls)
                elif isinstance(entry, Received):
                    outcomes.append(entry.asked)
                    asked.pop(entry.asked, None)
    return outcomes, list(asked)


def archived(run: Path) -> list[str]:
    """The URLs of all responses that are kept, in order; every record must be whole."""
    urls = []
    for part in parts_of(run):
        with part.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                assert record.verify_block_digest(), f"{part}: {record.record_id} is damaged"
                if record.record_type == WarcRecordType.response:
                    urls.append(record.headers["WARC-Target-URI"])
    return urls


def in_peace(scene: Scene, run: Path, pages: int, k: int) -> None:
    """Run an undisturbed crawl."""
    with Popen(scene.crawl(run, pages, k), stdout=DEVNULL) as crawl:
        assert crawl.wait() == 0


def ordeal(
    scene: Scene,
    run: Path,
    pages: int,
    k: int,
    moments: list[int],
    sign: signal.Signals,
    tell: Callable[[Kill], None] = lambda kill: None,
) -> Ordeal:
    """Kill a crawl at given numbers of requests, resume it each time, then let it end."""
    result, chance = Ordeal(run), random.Random(f"{k} {sign}")
    before, begin = len(scene.requests()), scene.asked()
    for moment in moments:
        with Popen(scene.crawl(run, pages, k), stdout=DEVNULL, stderr=DEVNULL) as crawl:
            if scene.asked() - begin >= moment:
                time.sleep(chance.random() * START)
            wait_until(lambda at=moment: scene.asked() - begin >= at, crawl)  # type: ignore[misc]
            time.sleep(chance.random() * 0.05)
            children = children_of(crawl.pid)
            crawl.send_signal(sign)
            assert crawl.wait(PATIENCE) in (0, -sign)
        result.kills.append(Kill(*recorded(run), outlived(children)))
        tell(result.kills[-1])
    in_peace(scene, run, pages, k)
    result.requests = scene.requests()[before:]
    return result


def readers_killed(
    scene: Scene, run: Path, pages: int, k: int, moments: list[int], sign: signal.Signals
) -> Ordeal:
    """Kill the reading processes again and again; the crawl continues."""
    result, begin = Ordeal(run), scene.asked()
    before = len(scene.requests())
    with Popen(scene.crawl(run, pages, k), stdout=DEVNULL) as crawl:
        for moment in moments:
            wait_until(lambda at=moment: scene.asked() - begin >= at, crawl)  # type: ignore[misc]
            for child in children_of(crawl.pid):
                os.kill(child, sign)
            result.kills.append(Kill([], [], 0))
        assert crawl.wait(PATIENCE) == 0
    result.requests = scene.requests()[before:]
    return result


def chosen_moments(kills: int, requests: int, seed: int = 1) -> list[int]:
    """Choose moments of a crawl; the last one leaves something to do."""
    chance = random.Random(seed)
    return sorted(chance.randrange(int(0.8 * requests)) for _ in range(kills))


def wait_until(condition: Callable[[], bool], crawl: Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert crawl.poll() is None, "it had ended before it was killed"
        assert time.monotonic() < deadline, "it never came so far"
        time.sleep(POLL)


def children_of(process: int) -> list[int]:
    """The child processes of a process, where the system lists them."""
    told = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in told.read_text().split()] if told.exists() else []


def outlived(children: list[int]) -> int:
    """How many of these processes are still alive after some seconds."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(POLL)
    return sum(map(is_running, children))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main() -> None:
    """Kill one crawl and print the result; exit code 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=int, default=3500, metavar="N", help="pages of the web")
    parser.add_argument("--pages", type=int, default=2000, help="pages to fetch")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--signal", choices=("KILL", "TERM"), default="KILL")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--whom", choices=("crawl", "reader"), default="crawl")
    parser.add_argument("--learns", action="store_true", help="the crawl teaches its model")
    options = parser.parse_args()
    pages, k = options.pages, options.concurrency
    learns = options.learns
    with TemporaryDirectory() as scratch, served(Path(scratch), options.web, learns) as scene:
        whole, run = Path(scratch) / "whole", Path(scratch) / "run"
        in_peace(scene, whole, pages, k)
        moments = chosen_moments(options.kills, scene.asked())
        print(
            f"{pages:,} pages of {options.web:,}, {scene.asked():,} requests in peace", flush=True
        )
        sign = signal.Signals[f"SIG{options.signal}"]
        if options.whom == "reader":
            result = readers_killed(scene, run, pages, k, moments, sign)
        else:
            result = ordeal(scene, run, pages, k, moments, sign, show)
        sys.exit(0 if verdict(result, whole, is_repeatable=k == 1 and not learns) else 1)


def show(kill: Kill) -> None:
    print(
        f"killed after {len(kill.outcomes):5,} outcomes with {len(kill.in_flight)} in flight, "
        f"{kill.orphans} orphans",
        flush=True,
    )


def verdict(result: Ordeal, whole: Path, is_repeatable: bool) -> bool:
    """Print what holds and what does not."""
    facts = {
        "nothing recorded was lost": not result.lost(),
        "no URL has two outcomes": not result.twice(),
        "asked again only for what was in flight": not result.asked_in_vain(),
        "no process outlived its crawl": not result.orphans(),
        "the WARC files hold every page once": result.warc_is_whole(),
    }
    if is_repeatable:
        same = (result.run / PAGES).read_bytes() == (whole / PAGES).read_bytes()
        facts[f"{PAGES} is that of the crawl in peace"] = same
    for fact, holds in facts.items():
        print(f"{'yes' if holds else 'NO ':4}{fact}")
    return all(facts.values())


if __name__ == "__main__":
    main()
