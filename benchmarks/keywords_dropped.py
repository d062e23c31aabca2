"""How much a crawl without labels depends on single keywords.

    python benchmarks/keywords_dropped.py benchmarks/topics/biology-auto.toml \
        --web encyclopedia.jsonl.gz --label Science/Biology --swap bird,mammal=protein,bacteria \
        --description "Living things: species of animals and plants, cells, genes and evolution."

The topic is crawled with all keywords of its file, without two of them (as many pairs as `--pairs`;
ten pairs of ten keywords leave out each of them twice), with some of them replaced, and with a
description and no keyword at all. Each time the crawl starts from a few relevant pages drawn at
random, and learns what is relevant from the pages that it fetches. After 300 and after 600 pages:

- *macro F1* of the model that it has learnt so far, over all pages of the web except the seeds;
- *harvest*: the share of the fetched pages that are relevant by the labels of the web.

Mean and standard deviation over the draws; the seeds of a draw are the same for all variants.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from site_split import Flags, WebPages, mean_and_spread
from tres.api.crawls import resume_crawl, run_crawl
from tres.api.results import Run
from tres.offline import open_web
from tres.offline.web import Web
from tres.relevance.cross_validation import Scores
from tres.relevance.model import THRESHOLD
from tres.settings.topic_file import TopicConfig, load_topic


class Variant(NamedTuple):
    """A way to say what the topic is."""

    name: str
    keywords: tuple[str, ...]
    description: str = ""


class Figures(NamedTuple):
    """What one crawl has come to, after a number of pages."""

    macro_f1: float
    harvest: float


NAMES = ("macro F1", "harvest")

Measured = list[dict[int, Figures]]
"""For each draw: figures by number of pages."""


def main() -> None:
    """Print one table, in Markdown: variants down, numbers of pages across."""
    options = arguments()
    config, web = load_topic(options.topic), open_web(options.web)
    pages = WebPages.of(web)
    truth = pages.relevant([options.label])
    if not truth.any():
        sys.exit(f"{options.web}: no page is labelled {options.label}; name another with --label")
    columns = [f"{name}, {count:,} pages" for count in options.pages for name in NAMES]
    print(f"| keywords | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}", flush=True)
    means = {}
    for variant in variants(config.topic.keywords, options):
        plan = config.override(keywords=variant.keywords, description=variant.description)
        measured = [measure(plan, web, pages, truth, options, n) for n in range(options.draws)]
        means[variant] = show(variant, measured, options.pages)
    show_worst(means, config.topic.keywords)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Crawl without some of the keywords.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--label", required=True, help="the label that is the truth")
    parser.add_argument("--pages", type=int, nargs="+", default=[300, 600])
    parser.add_argument("--pairs", type=int, default=10, help="pairs to leave out, in turn")
    parser.add_argument("--swap", type=swap, nargs="*", default=[], metavar="OLD,...=NEW,...")
    parser.add_argument("--description", help="also crawl with this sentence and no keyword")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=3)
    return parser.parse_args()


def swap(written: str) -> tuple[list[str], list[str]]:
    """Keywords, and those that stand in for them.

    >>> swap("bird,mammal=protein,bacteria")
    (['bird', 'mammal'], ['protein', 'bacteria'])
    """
    old, _, new = written.partition("=")
    return old.split(","), new.split(",")


def variants(keywords: Sequence[str], options: argparse.Namespace) -> Iterator[Variant]:
    """What is compared: all keywords first."""
    yield Variant(f"all {len(keywords)}", tuple(keywords))
    for pair in islice(pairs(keywords), options.pairs):
        yield Variant(f"without {', '.join(pair)}", without(keywords, pair))
    for old, new in options.swap:
        name = f"{', '.join(new)} instead of {', '.join(old)}"
        yield Variant(name, (*without(keywords, old), *new))
    if options.description is not None:
        yield Variant("none, but a description", (), options.description)


def pairs(keywords: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All pairs, in such an order that no keyword is left out much more often than another."""
    ring = np.random.default_rng(0).permutation(keywords).tolist()
    for apart in range(1, len(ring) // 2 + 1):
        starts = len(ring) if 2 * apart < len(ring) else apart  # opposite ones come once
        yield from ((ring[at], ring[(at + apart) % len(ring)]) for at in range(starts))


def without(keywords: Sequence[str], left_out: Sequence[str]) -> tuple[str, ...]:
    return tuple(keyword for keyword in keywords if keyword not in left_out)


def measure(
    config: TopicConfig,
    web: Web,
    pages: WebPages,
    truth: Flags,
    options: argparse.Namespace,
    draw: int,
) -> dict[int, Figures]:
    """Crawl from the seeds of a draw, and look at the crawl after each number of pages."""
    places = np.random.default_rng(draw).permutation(np.flatnonzero(truth))[: options.seeds]
    drawn = config.override(seeds=[pages.urls[place] for place in places], seed=draw)
    others = np.setdiff1d(np.arange(len(truth)), places)
    figures = {}
    with TemporaryDirectory() as scratch:
        directory = Path(scratch) / "run"
        for count in sorted(options.pages):
            if not figures:
                run = run_crawl(drawn, web, run=directory, pages=count)
            else:
                run = resume_crawl(directory, web, pages=count)
            figures[count] = look(run, pages, truth, others)
            print(draw, count, config.topic.keywords, figures[count], file=sys.stderr)
    return figures


def look(run: Run, pages: WebPages, truth: Flags, others: Sequence[int]) -> Figures:
    """How good the model of a run is, and what the crawl has found."""
    said = run.judge().probabilities([pages.texts[place] for place in others]) >= THRESHOLD
    relevant = {pages.urls[place] for place in np.flatnonzero(truth)}
    harvest = np.mean([page.url in relevant for page in run.pages])
    return Figures(Scores.of(truth[others], said).macro_f1, float(harvest))


def show(variant: Variant, measured: Measured, counts: Sequence[int]) -> list[float]:
    """Print the row of a variant, and return its means."""
    columns = [
        [draw[count][place] for draw in measured] for count in counts for place in range(len(NAMES))
    ]
    print(f"| {variant.name} | {' | '.join(map(mean_and_spread, columns))} |", flush=True)
    return [float(np.mean(column)) for column in columns]


def show_worst(means: dict[Variant, list[float]], keywords: Sequence[str]) -> None:
    """Print the lowest mean of every column among the lists with fewer keywords."""
    shorter = [row for each, row in means.items() if 0 < len(each.keywords) < len(keywords)]
    if shorter:
        lowest = (f"{min(column):.3f}" for column in zip(*shorter, strict=True))
        print(f"| lowest of the {len(shorter)} shorter lists | {' | '.join(lowest)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
