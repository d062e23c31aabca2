"""Spam: its share of a crawl's budget with and without the defence, and what the defence costs.

    python benchmarks/spam.py traps
    python benchmarks/spam.py cost benchmarks/topics/sound.toml --web docs.jsonl.gz --caps inf 10

`traps` puts a trap next to a good generated web. One relevant page in `EVERY` of the good web links
to it, as if somebody had written into its guest book. A page of a trap links to 20 new ones, with
anchors about the topic:

- `host, keywords` and `host, prose`: one host, pages of keywords, or of text like good pages;
- `subdomains, keywords` and `subdomains, prose`: the same with a new host name for every page;
- `copies, 4 words` and `copies, 8 words`: one good page of 240 words, 4 or 8 of them changed at
  random, each copy on its own domain, so that only the test for near-duplicates can help.

`cost` crawls an archive from several seeds and compares the harvest rates; seeds as in policies.py.

The crawl is driven in memory, with the rules of live crawls: pages are judged by a `PageReader` and
a `DuplicatesAndTraps`, sites wait between two requests, on a simulated clock.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import tres
from policies import find_seeds, labelled
from tres.crawl.events import Done, Fetch, Stepped
from tres.crawl.session import CrawlSession
from tres.engines.reading.duplicates_and_traps import DuplicatesAndTraps
from tres.engines.reading.page_reader import PageReader, Reading
from tres.offline import open_web
from tres.offline.generated.word_lists import COMMON_WORDS, TOPIC_WORDS, TOPICS, prose
from tres.offline.web import Web
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import new_session, perceive_seeds
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Failed, Link, Outcome, Page
from tres.web.percept import Perceiver
from tres.web.url import host_of, site_of

EVERY = 10
LINKS = 20
WORDS = 240
TOPIC = TOPICS[0]
OFF = {"near_duplicates": False, "self_cited": 1.0, "keyword_density": 1.0}


class Trap(NamedTuple):
    """Where the pages of a trap are, by number, and what they say."""

    name: str
    host: Callable[[int], str]
    text: Callable[[np.random.Generator], str]
    delay: float


def keywords_only(rng: np.random.Generator) -> str:
    """Keywords of the topic, repeated."""
    return " ".join(rng.choice(list(TOPIC_WORDS[0][:8]), WORDS).tolist())


def good_prose(rng: np.random.Generator) -> str:
    """Text like that of a good page."""
    return prose([(TOPIC_WORDS[0], WORDS // 2), (COMMON_WORDS, WORDS // 2)], rng)


def copied(changes: int) -> Callable[[np.random.Generator], str]:
    """Copies of one page, each with some words changed."""
    original = good_prose(np.random.default_rng(7)).split()

    def copy(rng: np.random.Generator) -> str:
        words = list(original)
        for place in rng.choice(len(words), changes, replace=False).tolist():
            words[place] = str(rng.choice(COMMON_WORDS))
        return " ".join(words)

    return copy


def one_host(number: int) -> str:
    """All pages on one host."""
    return "spam.example"


def a_subdomain(number: int) -> str:
    """A host name for every page."""
    return f"{number:x}.spam.example"


def a_domain(number: int) -> str:
    """A domain for every page."""
    return f"spam{number:x}.example"


TRAPS = (
    Trap("host, keywords", one_host, keywords_only, 0.0),
    Trap("host, prose", one_host, good_prose, 0.0),
    Trap("subdomains, keywords", a_subdomain, keywords_only, 1.0),
    Trap("subdomains, prose", a_subdomain, good_prose, 1.0),
    Trap("copies, 4 words", a_domain, copied(4), 1.0),
    Trap("copies, 8 words", a_domain, copied(8), 1.0),
)


class TrappedWeb:
    """A good web in which some pages link to a trap."""

    def __init__(self, good: tres.GeneratedWeb, trap: Trap) -> None:
        self._good = good
        self._trap = trap

    def url(self, number: int) -> str:
        """The address of a page of the trap."""
        return f"http://{self._trap.host(number)}/{TOPIC}/{number:x}"

    def fetch(self, url: str) -> Outcome:
        """A page of the good web or of the trap."""
        if "spam" in host_of(url):
            return self._spam(url, int(url.rpartition("/")[2], 16))
        page = self._good.fetch(url)
        if isinstance(page, Page) and TOPIC in page.labels:
            chance = np.random.default_rng(list(url.encode())).integers(EVERY)
            if chance == 0:
                link = Link(self.url(0), f"{TOPIC} friends")
                return Page(page.url, page.title, page.text, (*page.links, link), page.labels)
        return page

    def _spam(self, url: str, number: int) -> Page:
        rng = np.random.default_rng((9, number))
        targets = rng.integers(1, 1 << 40, LINKS).tolist()
        anchors = rng.choice(list(TOPIC_WORDS[0]), (LINKS, 2)).tolist()
        links = tuple(
            Link(self.url(target), " ".join(words))
            for target, words in zip(targets, anchors, strict=True)
        )
        return Page(url, f"All about {TOPIC}", self._trap.text(rng), links)


class Crawled(NamedTuple):
    """The result of a crawl."""

    session: CrawlSession
    hosts: list[str]
    failures: Counter[str]


def crawled(
    config: TopicConfig,
    perceiver: Perceiver,
    fetch: Callable[[str], Outcome],
    read: Callable[[Page], Reading],
    delay: float = 0.0,
) -> Crawled:
    """A crawl by the rules of live ones; a fetch takes a twentieth of a second, spam is faster."""
    session = new_session(config, perceive_seeds(config, perceiver), live=True)
    memory = DuplicatesAndTraps(config.live)
    now, hosts = 0.0, []
    ready: dict[str, float] = {}
    flying: list[tuple[float, str]] = []
    while not isinstance(demand := session.next(_room(config, flying), _waiting(ready, now)), Done):
        for url in demand.urls if isinstance(demand, Fetch) else ():
            seconds = 0.001 if "spam" in host_of(url) else 0.05
            ready[site_of(url)] = now + max(delay, seconds)
            heappush(flying, (now + seconds, url))
        if isinstance(demand, Fetch) and _room(config, flying):
            continue  # sites that were asked just now must wait: ask again
        if not flying:
            now = min(at for at in ready.values() if at > now)
            continue
        now, url = heappop(flying)
        page = fetch(url)
        reading = read(page) if isinstance(page, Page) else Reading(page)
        outcome = memory.check(reading)
        if any(isinstance(event, Stepped) for event in session.receive(url, outcome)):
            hosts.append(host_of(url))
            assert not isinstance(outcome, Failed)
            memory.remember(outcome.links.urls, reading.fingerprint)
    return Crawled(session, hosts, Counter(map(str, session.failures.elements())))


def _room(config: TopicConfig, flying: list[tuple[float, str]]) -> int:
    """Fetch one page at a time; its site must wait afterwards."""
    return min(1, config.crawl.in_flight - len(flying))


def _waiting(ready: dict[str, float], now: float) -> list[str]:
    return [site for site, at in ready.items() if at > now]


def traps(options: argparse.Namespace) -> None:
    """The share of the budget that every trap takes."""
    good = tres.GeneratedWeb(options.web_pages, seed=1)
    columns = (
        "trap",
        "lost without",
        "lost with",
        "relevant of the rest, without",
        "with",
        "failed",
    )
    table = Table(*columns, title=f"{options.pages:,} pages, defaults")
    for trap in TRAPS:
        web = TrappedWeb(good, trap)
        rows = [_in_trap(options, good, web, trap, live) for live in (OFF, {})]
        lost = [f"{row[0]:.1%}" for row in rows]
        good_share = [f"{row[1]:.1%}" for row in rows]
        table.add_row(trap.name, *lost, *good_share, rows[1][2])
    Console(width=110).print(table)


def _in_trap(
    options: argparse.Namespace, good: tres.GeneratedWeb, web: TrappedWeb, trap: Trap, live: dict
) -> tuple[float, float, str]:
    topic = tres.new_topic(good.topics[TOPIC], good.seeds(TOPIC, 3), labels=[TOPIC])
    config = topic.override(pages=options.pages, in_flight=8, seed=1, **live)
    perceiver = perceive_topic(config, good)
    reader = PageReader(perceiver, config.live, 2026)
    crawl = crawled(config, perceiver, web.fetch, reader.read_page, trap.delay)
    spam = sum("spam" in host for host in crawl.hosts)
    good_pages = [step for step in crawl.hosts if "spam" not in step]
    relevant = crawl.session.relevant - spam
    told = ", ".join(
        f"{count} {kind}" for kind, count in crawl.failures.items() if kind != "http-404"
    )
    return spam / len(crawl.hosts), relevant / max(1, len(good_pages)), told


def cost(options: argparse.Namespace) -> None:
    """Harvest rates over an archive with and without the defence."""
    config = load_topic(options.topic).override(pages=options.pages)
    web: Web = open_web(options.web)
    perceiver = perceive_topic(config, web)
    seeds = find_seeds(web, labelled(web, config), config, options.runs)
    readings: dict[str, Reading] = {}
    reader = PageReader(perceiver, config.live, 2026)

    def read(page: Page) -> Reading:
        if page.url not in readings:
            readings[page.url] = reader.read_page(page)
        return readings[page.url]

    defences = {"none": OFF, "all of it": {}}
    for name in OFF if options.parts else ():
        defences[name] = {key: off for key, off in OFF.items() if key != name}
    table = Table("cap", "defence", "harvest rate", "difference", "worst", title=config.name)
    for cap in options.caps:
        base: list[float] = []
        for name, live in defences.items():
            rates = []
            for number, url in enumerate(seeds, start=1):
                variant = config.override(seeds=[url], seed=number, max_per_site=cap, **live)
                crawl = crawled(variant, perceiver, web.fetch, read)
                rates.append(crawl.session.harvest_rate)
                print(cap, name, url, f"{rates[-1]:.3f}", crawl.session.held_sites, file=sys.stderr)
            base = base or rates
            gained = np.subtract(rates, base)
            spread = f"{gained.mean():+.3f} ± {gained.std():.3f}"
            table.add_row(cap, name, f"{np.mean(rates):.3f}", spread, f"{gained.min():+.3f}")
    Console(width=110).print(table)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="What spam takes, and what the defence costs.")
    modes = parser.add_subparsers(required=True)
    trapped = modes.add_parser("traps")
    trapped.add_argument("--pages", type=int, default=1000)
    trapped.add_argument("--web-pages", type=int, default=20_000)
    trapped.set_defaults(run=traps)
    costs = modes.add_parser("cost")
    costs.add_argument("topic", type=Path)
    costs.add_argument("--web", required=True)
    costs.add_argument("--pages", type=int)
    costs.add_argument("--runs", type=int, default=5)
    costs.add_argument("--parts", action="store_true", help="every part of the defence alone")
    costs.add_argument("--caps", nargs="+", default=["inf"])
    costs.set_defaults(run=cost)
    return parser.parse_args()


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        chosen = arguments()
        chosen.run(chosen)
