"""The first fetches of a topic without labels: tres beside other crawlers, on the same web.

    python benchmarks/peers.py --web encyclopedia.jsonl.gz \
        --topic benchmarks/topics/biology-auto.toml --label Science/Biology --peers peers/bin/python
    python benchmarks/peers.py --web generated --seeds 5 --peers peers/bin/python

The web is served on this machine, and every crawler gets the same seeds (relevant pages drawn at
random), keywords and budget. The server's log says what each has fetched and in which order, and
the labels of the web say what of it is relevant; no crawler counts itself. tres crawls as live:
`model = "auto"`, so it learns from the pages it fetches and from nothing else. Harvest is counted

- of the first *requests*: dead links, redirects and pages fetched twice count as well;
- of the first *pages*: requests that were answered with a page.

A page with the same content as an earlier one is no further relevant page. Seeds count. A crawler
that ends early has found nothing in the rest of its budget.

Without `--peers`, the interpreter of an environment that has the other crawlers
(`peer_crawlers.py`), only policies of tres are compared. All of these judge by the same kind of
model, learnt in the same way.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from peer_crawlers import CRAWLERS, Order
from site_split import WebPages, mean_and_spread
from tres.offline import GeneratedWeb, open_web
from tres.offline.serving import serving
from tres.offline.web import Web
from tres.settings.topic_file import TopicConfig, load_topic, new_topic
from tres.web.page import Page

TRES = "tres"
POLICIES = (TRES, "breadth-first", "parent", "anchor")
HERE = Path(__file__).parent
OK = "200"

Crawl = Callable[[TopicConfig, Path], str]
"""Crawls a topic over its proxy, with a scratch directory; returns the name and version."""


class Fetched(NamedTuple):
    """A request in the log of the server."""

    url: str
    status: str


class Harvest(NamedTuple):
    """Shares of relevant pages in a budget."""

    of_requests: float
    of_pages: float


@dataclass(frozen=True, slots=True)
class Truth:
    """Which pages are relevant, by the labels of the web."""

    web: Web
    pages: WebPages
    label: str
    relevant: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, web: Web, label: str) -> Truth:
        """Read all labels."""
        pages = WebPages.of(web)
        flags = pages.relevant([label]).tolist()
        if not any(flags):
            sys.exit(f"{web.name}: no page is labelled {label}; name another with --label")
        return cls(web, pages, label, dict(zip(pages.texts, flags, strict=True)))

    def draw_seeds(self, count: int, draw: int) -> list[str]:
        """Some relevant pages, at random."""
        flags = self.pages.relevant([self.label])
        places = np.random.default_rng(draw).permutation(np.flatnonzero(flags))
        return [self.pages.urls[place] for place in places[:count]]

    def harvest(self, log: Iterable[Fetched], budget: int) -> Harvest:
        """Relevant pages among the first requests, and among the first pages."""
        gains = list(self._gains(log))
        pages = [gain for gain, is_page in gains if is_page]
        requests = [gain for gain, _ in gains]
        return Harvest(sum(requests[:budget]) / budget, sum(pages[:budget]) / budget)

    def _gains(self, log: Iterable[Fetched]) -> Iterator[tuple[bool, bool]]:
        """Per request: did it give a new relevant page, and a page at all?"""
        seen: set[str] = set()
        for fetched in log:
            page = self.web.fetch(fetched.url) if fetched.status == OK else None
            content = page.content if isinstance(page, Page) else ""
            yield self.relevant.get(content, False) and content not in seen, bool(content)
            seen.add(content)


def main() -> None:
    """Crawl with everything from the same seeds, and print one table in Markdown."""
    options = arguments()
    web = open_web(options.web)
    config, label = topic(web, options)
    truth = Truth.of(web, label)
    harvests: dict[str, list[Harvest]] = {}
    for draw in range(options.draws):
        drawn = config.override(seeds=truth.draw_seeds(options.seeds, draw), seed=draw)
        for crawl in crawlers(options):
            name, log = crawl_served(crawl, drawn, web)
            harvests.setdefault(name, []).append(harvest := truth.harvest(log, options.fetches))
            print(f"draw {draw}, {name}: {len(log):,} requests, {harvest}", file=sys.stderr)
    show(harvests, options.fetches)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare crawlers on one web over HTTP.")
    parser.add_argument("--web", required=True, help="an archive with labels, or generated:...")
    parser.add_argument("--topic", type=Path, help="topic file  [that of a generated web]")
    parser.add_argument("--label", help="the label that is the truth  [that of a generated web]")
    parser.add_argument("--fetches", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=10, help="relevant pages to start from")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--policies", nargs="*", choices=POLICIES, default=POLICIES)
    parser.add_argument("--peers", type=Path, help="interpreter that has the other crawlers")
    return parser.parse_args()


def topic(web: Web, options: argparse.Namespace) -> tuple[TopicConfig, str]:
    """What to look for, and the label that says what is relevant."""
    if isinstance(web, GeneratedWeb) and options.topic is None:
        label, keywords = next(iter(web.topics.items()))
        config = new_topic(keywords, name=label)
    elif options.topic is None or options.label is None:
        sys.exit("this web needs --topic and --label")
    else:
        config, label = load_topic(options.topic), options.label
    local = {"contact": "peers@localhost", "delay": 0.0, "robots": False}
    return config.override(pages=options.fetches, **local), options.label or label


def crawlers(options: argparse.Namespace) -> Iterator[Crawl]:
    """What is compared."""
    yield from (partial(crawl_tres, policy) for policy in options.policies)
    if options.peers is not None:
        yield from (partial(crawl_peer, options.peers.absolute(), name) for name in CRAWLERS)


def crawl_served(crawl: Crawl, config: TopicConfig, web: Web) -> tuple[str, list[Fetched]]:
    """Serve the web to one crawler; return its name and what it has requested."""
    lines = io.StringIO()
    with serving(web, log=lines) as proxy, TemporaryDirectory() as scratch:
        name = crawl(config.override(proxy=proxy), Path(scratch))
    rows = (line.split("\t") for line in lines.getvalue().splitlines())
    return name, [Fetched(url, status) for _, _, _, url, status in rows]


def crawl_tres(policy: str, config: TopicConfig, scratch: Path) -> str:
    """Crawl with a policy of tres, as a user does."""
    file = scratch / "topic.toml"
    file.write_text(config.override(policy=policy).to_toml(), encoding="utf-8")
    run("-P", "-m", "tres", "crawl", str(file), "--run", str(scratch / "run"))
    return policy if policy == TRES else f"{policy} (policy of tres)"


def crawl_peer(python: Path, name: str, config: TopicConfig, scratch: Path) -> str:
    """Crawl with another crawler, in its own environment."""
    given = config.topic
    order = Order(config.live.proxy, [*given.seeds], [*given.keywords], config.crawl.pages)
    program = str(HERE / "peer_crawlers.py")
    return run(program, name, python=python, given=json.dumps(asdict(order)), home=scratch).strip()


def run(
    *command: str, python: Path | str = sys.executable, given: str = "", home: Path | None = None
) -> str:
    """Run a Python program to its end, and return what it prints; what it keeps goes to `home`."""
    at_home = {} if home is None else {"HOME": str(home), "CRAWL4_AI_BASE_DIRECTORY": str(home)}
    environment = os.environ | at_home
    done = subprocess.run(
        [python, *command],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} has failed:\n{done.stderr[-2000:]}")
    return done.stdout


def show(harvests: dict[str, list[Harvest]], budget: int) -> None:
    """Print the table: mean and spread, and how many times as much tres has found."""
    measures = (f"of {budget:,} requests", f"of {budget:,} pages")
    columns = [cell for measure in measures for cell in (measure, "tres / this")]
    print(f"| crawler | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}")
    for name, found in harvests.items():
        cells = []
        for place in range(len(measures)):
            figures = [each[place] for each in found]
            ours = [each[place] for each in harvests.get(TRES, ())]
            ratio = f"{np.mean(ours) / np.mean(figures):.2f}" if ours and any(figures) else "-"
            cells += [mean_and_spread(figures), ratio]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
