"""Policies compared on one archive: harvest rate and relevant sites, mean and spread.

    python benchmarks/policies.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

Every run starts from a single seed, a page with the topic's label from which at least ten times
the budget can be reached (or nine tenths of the web, if that is less). No model is involved in
this, so every policy and every model gets the same seeds. `harvest rate` is judged by the
relevance model, as in the paper; `by labels` is the share of the same pages that carry the topic's
label, so that crawls with different models can be compared. Runs are deterministic.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.crawl.events import Stepped
from tres.engines.replay import PerceivedWeb, replay_events
from tres.offline import open_web
from tres.offline.web import Web
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import offline_session
from tres.settings.policy_names import POLICIES
from tres.settings.sections import FEATURES, MODELS
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Page

LEARNERS = ("tres", "tree-random")
"""Policies for which the feature set makes a difference."""


def main() -> None:
    """Run everything and print one table."""
    options = arguments()
    config = load_topic(options.topic).override(pages=options.pages, model=options.model)
    web = open_web(options.web)
    seen = PerceivedWeb(web, perceive_topic(config, web))
    relevant = labelled(web, config)
    seeds = find_seeds(web, relevant, config, options.runs)
    title = f"{config.name}, {config.crawl.pages:,} pages, {len(seeds)} single-seed runs"
    columns = ("policy", "features", "cap", "harvest rate", "by labels", "relevant sites")
    table = Table(*columns, title=f"{title}, {config.training.model}")
    for cap, policy in product(options.caps, options.policies):
        for features in options.features if policy in LEARNERS else ("auto",):
            variant = config.override(policy=policy, features=features, max_per_site=cap)
            table.add_row(policy, features, cap, *figures(variant, seen, seeds, relevant))
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
    parser.add_argument("--features", nargs="+", choices=("auto", *FEATURES), default=FEATURES)
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    return parser.parse_args()


def figures(
    config: TopicConfig, seen: PerceivedWeb, seeds: list[str], relevant: dict[str, None]
) -> list[str]:
    """Mean and standard deviation over the seeds."""
    rates, labelled, sites = [], [], []
    for number, url in enumerate(seeds, start=1):
        session = offline_session(config.override(seeds=[url], seed=number), seen)
        events = replay_events(session, seen)
        fetched = [event.url for event in events if isinstance(event, Stepped)]
        rates.append(session.harvest_rate)
        labelled.append(sum(url in relevant for url in fetched) / len(fetched))
        sites.append(session.relevant_sites)
        print(f"{url}: {rates[-1]:.3f}, {labelled[-1]:.3f} by labels", file=sys.stderr)
    shares = [f"{np.mean(each):.3f} ± {np.std(each):.3f}" for each in (rates, labelled)]
    return [*shares, f"{np.mean(sites):.0f} ± {np.std(sites):.0f}"]


def labelled(web: Web, config: TopicConfig) -> dict[str, None]:
    """The pages that carry the topic's label or one below it, in the order of the web."""
    wanted = config.training.labels
    return {
        page.url: None
        for page in web.pages()
        if any(label == w or label.startswith(f"{w}/") for label in page.labels for w in wanted)
    }


def find_seeds(web: Web, relevant: dict[str, None], config: TopicConfig, runs: int) -> list[str]:
    """Labelled pages that can reach enough of the web and do not link to each other."""
    enough = min(10 * config.crawl.pages, int(0.9 * len(web)))
    chosen: list[str] = []
    for url in np.random.default_rng(config.crawl.seed).permutation(np.array([*relevant], object)):
        links = links_of(web, url) or []
        linked = any(other in links or url in (links_of(web, other) or []) for other in chosen)
        if not linked and reaches(web, url, enough):
            chosen.append(url)
        if len(chosen) == runs:
            break
    return chosen


def links_of(web: Web, url: str) -> list[str] | None:
    """The links of a page; none if there is no page."""
    page = web.fetch(url)
    return [link.url for link in page.links] if isinstance(page, Page) else None


def reaches(web: Web, url: str, enough: int) -> bool:
    """Whether that many pages can be reached from here."""
    asked, queue, pages = {url}, deque([url]), 0
    while queue and pages < enough:
        links = links_of(web, queue.popleft())
        if links is not None:
            pages += 1
            new = dict.fromkeys(link for link in links if link not in asked)
            asked.update(new)
            queue.extend(new)
    return pages >= enough


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
