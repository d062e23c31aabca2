"""How much a crawl loses if nobody has labelled a page.

    python benchmarks/no_labels.py benchmarks/topics/biology-auto.toml \
        --web encyclopedia.jsonl.gz --label Science/Biology --pages 600

The topic is crawled twice from the same seeds, relevant pages drawn at random: once with its words
alone, learning what is relevant from the pages that the crawl fetches; and once with a model that
was trained on 150 relevant and 1,000 other pages, drawn from the whole web by its labels. Every
fetch counts. Of each draw:

- *harvest*: the share of the fetched pages that are relevant by the labels of the web, and the
  ratio of both crawls;
- *recall* and *precision* of the model without labels, as it is when the crawl ends, on the pages
  that the crawl has fetched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from site_split import mean_and_spread
from tres.api.crawls import run_crawl
from tres.api.results import Run
from tres.offline import open_web
from tres.offline.web import Web
from tres.settings.topic_file import TopicConfig, load_topic


class Figures(NamedTuple):
    """What the two crawls of a draw have come to."""

    without: float
    labelled: float
    recall: float
    precision: float


NAMES = ("harvest without labels", "harvest with labels", "recall", "precision")


def main() -> None:
    """Print a row per draw and their means, in Markdown."""
    options = arguments()
    config, web = load_topic(options.topic).override(pages=options.pages), open_web(options.web)
    truth = relevant_pages(web, options.label)
    if not truth:
        sys.exit(f"{options.web}: no page is labelled {options.label}; name another with --label")
    print(f"| {config.name} | {' | '.join(NAMES)} |\n|{'---|' * (1 + len(NAMES))}", flush=True)
    measured = []
    for draw in range(options.draws):
        measured.append(measure(config, web, truth, options, draw))
        print(f"| draw {draw} | {' | '.join(f'{each:.3f}' for each in measured[-1])} |", flush=True)
    columns = [mean_and_spread(column) for column in zip(*measured, strict=True)]
    print(f"| mean | {' | '.join(columns)} |", flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Crawl with and without labels.")
    parser.add_argument("topic", type=Path, help="a topic file; its labels are not used")
    parser.add_argument("--web", required=True)
    parser.add_argument("--label", required=True, help="the label that is the truth")
    parser.add_argument("--labelled-model", default="tfidf", help="kind of the model with labels")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--draws", type=int, default=5)
    return parser.parse_args()


def relevant_pages(web: Web, label: str) -> list[str]:
    """The addresses of the pages with a label, or one below it."""
    return sorted(
        page.url
        for page in web.pages()
        if any(f"{each}/".startswith(f"{label}/") for each in page.labels)
    )


def measure(
    config: TopicConfig, web: Web, truth: list[str], options: argparse.Namespace, draw: int
) -> Figures:
    """Crawl with and without labels from the seeds of a draw."""
    seeds = np.random.default_rng(draw).permutation(truth)[: options.seeds].tolist()
    drawn = config.override(seeds=seeds, seed=draw)
    without = drawn.override(labels=(), model="auto")
    labelled = drawn.override(labels=[options.label], model=options.labelled_model)
    with TemporaryDirectory() as scratch:
        learnt = run_crawl(without, web, run=Path(scratch) / "without")
        taught = run_crawl(labelled, web, run=Path(scratch) / "labelled")
    relevant = set(truth)
    found = np.array([page.url in relevant for page in learnt.pages])
    judged = np.array([page.relevant for page in learnt.pages])
    right = (found & judged).sum()
    recall, precision = right / max(found.sum(), 1), right / max(judged.sum(), 1)
    return Figures(float(found.mean()), harvest(taught, relevant), recall, precision)


def harvest(run: Run, relevant: set[str]) -> float:
    """The share of the fetched pages that are relevant."""
    return float(np.mean([page.url in relevant for page in run.pages]))


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
