"""What learning from dead links saves in requests, and costs in harvest, on one archive.

    python benchmarks/dead_links.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

Links that lead out of an archive are dead. `--gone 0.6` makes that share of its pages dead as well.
Every price (`agent.dead_links`) starts from the same single seeds, as in `benchmarks/policies.py`;
sessions are those of live crawls, without the limit on sites that only cite themselves. Runs are
deterministic.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.policies import find_seeds, labelled
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay_events
from tres.offline import open_web
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import new_session, perceive_seeds
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept


@dataclass(frozen=True)
class Thinned:
    """A web with a share of its pages removed."""

    seen: PerceivedWeb
    gone: float

    def is_gone(self, url: str) -> bool:
        """Whether a page is removed."""
        return zlib.crc32(b"p" + url.encode()) < self.gone * 2**32

    def perceive(self, url: str) -> Percept | Failed:
        """Return the percept of a page, or its failure."""
        if self.is_gone(url):
            return Failed(url, FailureKind.NOT_FOUND)
        return self.seen.perceive(url)


def main() -> None:
    """Crawl with every price and print one table."""
    options = arguments()
    config = load_topic(options.topic).override(
        pages=options.pages, max_per_site=options.cap, self_cited=1.0
    )
    web = open_web(options.web)
    thinned = Thinned(PerceivedWeb(web, perceive_topic(config, web)), options.gone)
    seeds = find_seeds(web, labelled(web, config), config, 3 * options.runs)
    there = [seed for seed in seeds if not thinned.is_gone(seed)][: options.runs]
    columns = ("dead_links", "pages", "harvest rate", "requests", "relevant / request")
    table = Table(*columns, title=f"{config.name}, cap {options.cap}, {len(there)} runs")
    for price in options.prices:
        table.add_row(f"{price}", *figures(config.override(dead_links=price), thinned, there))
    Console(width=100).print(table)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="What dead links teach.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cap", default="inf")
    parser.add_argument("--gone", type=float, default=0.0)
    parser.add_argument("--prices", type=float, nargs="+", default=[0.0, 0.25, 1.0])
    return parser.parse_args()


def figures(config: TopicConfig, web: Thinned, seeds: list[str]) -> list[str]:
    """Means over the seeds, of harvest with its standard deviation."""
    done = [crawled(config.override(seeds=[s], seed=n), web) for n, s in enumerate(seeds, 1)]
    rates = [session.harvest_rate for session in done]
    each = [session.relevant / session.asked for session in done]
    return [
        f"{np.mean([session.steps for session in done]):.0f}",
        f"{np.mean(rates):.3f} ± {np.std(rates):.3f}",
        f"{np.mean([session.asked for session in done]):.0f}",
        f"{np.mean(each):.3f}",
    ]


def crawled(config: TopicConfig, web: Thinned) -> CrawlSession:
    """Run one crawl to its end."""
    session = new_session(config, perceive_seeds(config, web.seen.perceiver), live=True)
    list(replay_events(session, web))
    return session


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
