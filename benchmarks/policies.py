"""Policies side by side on one archive: harvest rate and relevant sites, mean and spread.

    python benchmarks/policies.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

Every run starts from a single seed, a relevant page from which at least ten times the budget
can be reached (or nine tenths of the web, if that is less); every policy gets the same seeds.
The judge is the relevance model, as in the paper. Runs are deterministic.
"""

from __future__ import annotations

import argparse
from collections import deque
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.config import FEATURES, MODELS, POLICIES, TopicConfig, load_topic
from tres.engines.replay import PerceivedWeb, replay
from tres.experiment.run import open_session
from tres.experiment.topic import perceive_topic
from tres.web.percept import Percept
from tres.webs import open_web

LEARNERS = ("tres", "tree-random")
"""Policies for which the feature set makes a difference."""


def main() -> None:
    """Run everything and print one table."""
    options = arguments()
    config = load_topic(options.topic).override(pages=options.pages, model=options.model)
    web = open_web(options.web)
    seen = PerceivedWeb(web, perceive_topic(config, web))
    seeds = find_seeds(seen, config, options.runs)
    title = f"{config.name}, {config.crawl.pages:,} pages, {len(seeds)} single-seed runs"
    table = Table("policy", "features", "cap", "harvest rate", "relevant sites", title=title)
    for cap, policy in product(options.caps, options.policies):
        for features in options.features if policy in LEARNERS else FEATURES[:1]:
            variant = config.override(policy=policy, features=features, max_per_site=cap)
            table.add_row(policy, features, cap, *figures(variant, seen, seeds))
    Console(width=100).print(table)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare policies on one archive.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--caps", nargs="+", default=["inf"])
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--features", nargs="+", choices=FEATURES, default=FEATURES)
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    return parser.parse_args()


def figures(config: TopicConfig, seen: PerceivedWeb, seeds: list[str]) -> tuple[str, str]:
    """Mean and standard deviation over the seeds."""
    rates, sites = [], []
    for number, url in enumerate(seeds, start=1):
        session = open_session(config.override(seeds=[url], seed=number), seen)
        replay(session, seen)
        rates.append(session.harvest_rate)
        sites.append(session.relevant_sites)
    return (
        f"{np.mean(rates):.3f} ± {np.std(rates):.3f}",
        f"{np.mean(sites):.0f} ± {np.std(sites):.0f}",
    )


def find_seeds(seen: PerceivedWeb, config: TopicConfig, runs: int) -> list[str]:
    """Relevant, labelled pages that can reach enough of the web and do not link to each other."""
    wanted = config.training.labels
    pages = [
        page.url
        for page in seen.web.pages()
        if any(label == w or label.startswith(f"{w}/") for label in page.labels for w in wanted)
    ]
    enough = min(10 * config.crawl.pages, int(0.9 * len(seen.web)))
    chosen: list[str] = []
    for url in np.random.default_rng(config.crawl.seed).permutation(np.array(pages, object)):
        percept = seen.perceive(url)
        if not isinstance(percept, Percept) or not percept.relevant:
            continue
        linked = any(other in percept.links.urls or cites(seen, other, url) for other in chosen)
        if not linked and reaches(seen, url, enough):
            chosen.append(url)
        if len(chosen) == runs:
            break
    return chosen


def cites(seen: PerceivedWeb, source: str, target: str) -> bool:
    """Does one page link to the other?"""
    percept = seen.perceive(source)
    return isinstance(percept, Percept) and target in percept.links.urls


def reaches(seen: PerceivedWeb, url: str, enough: int) -> bool:
    """Can that many pages be reached from here?"""
    reached, queue = {url}, deque([url])
    while queue and len(reached) < enough:
        percept = seen.perceive(queue.popleft())
        if isinstance(percept, Percept):
            new = [u for u in percept.links.urls if u not in reached]
            found = [u for u in new if isinstance(seen.perceive(u), Percept)]
            reached.update(found)
            queue.extend(found)
    return len(reached) >= enough


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
