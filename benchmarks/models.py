"""Relevance models compared, as in Table 1 of the paper: quality on unseen pages.

    cd benchmarks/topics
    python ../models.py biology.toml geography.toml --web encyclopedia.jsonl.gz
    python ../models.py sound.toml databases.toml --web docs.jsonl.gz

Five folds. A fold is a training set: 150 relevant and 1,000 irrelevant pages of an archive by its
labels. Every model is trained on it and judged on *all* other pages. The training sets are taken
from one random order of each class, so they are disjoint as far as the pages of the class suffice;
beyond that, the last sets start again with the first pages, and the table says so.

Prints mean and standard deviation over the folds: precision and recall of the relevant class, macro
F1, average precision (how well pages are ranked, whatever the threshold), and the average precision
when the models see only titles, as they see anchors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tres.offline import open_web
from tres.offline.web import Web
from tres.relevance.cross_validation import Scores
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD
from tres.relevance.model_kinds import train_model
from tres.runs.topic_perceiver import topic_words
from tres.settings.sections import MODELS
from tres.settings.topic_file import TopicConfig, load_topic

COLUMNS = ("precision", "recall", "macro F1", "avg. precision", "titles alone", "training s")

Places = NDArray[np.intp]


def main() -> None:
    """Print one table, in Markdown."""
    options = arguments()
    web = open_web(options.web)
    texts = [page.content for page in web.pages()]
    print(f"| topic | model | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}")
    for config in map(load_topic, options.topics):
        truth = labelled(config, web)
        folds = list(deal(truth, config, options.folds))
        for number, model in enumerate(options.models):
            figures = np.array([judge(model, config, texts, truth, fold) for fold in folds])
            mean, spread = figures.mean(0), figures.std(0)
            cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[:-1], spread[:-1], strict=True)]
            topic = f"{config.name} ({truth.sum():,} of {len(truth):,} pages)" * (number == 0)
            print(f"| {topic} | {model} | {' | '.join(cells)} | {mean[-1]:.0f} |", flush=True)
        print(overlaps(config.name, truth, folds), file=sys.stderr)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare relevance models on one archive.")
    parser.add_argument("topics", type=Path, nargs="+")
    parser.add_argument("--web", required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    return parser.parse_args()


def labelled(config: TopicConfig, web: Web) -> NDArray[np.bool_]:
    """Which pages of a web carry the topic's labels, in the order of the web."""
    wanted = config.training.labels
    return np.array(
        [
            any(f"{label}/".startswith(f"{w}/") for label in page.labels for w in wanted)
            for page in web.pages()
        ]
    )


@dataclass(frozen=True, slots=True)
class Fold:
    """A training set, by the places of its pages; all other pages are judged."""

    number: int
    relevant: Places
    irrelevant: Places


def deal(truth: NDArray[np.bool_], config: TopicConfig, folds: int) -> Iterator[Fold]:
    """Training sets one after the other from a random order of each class."""
    rng = np.random.default_rng(100)
    yes, no = (rng.permutation(np.flatnonzero(truth == each)) for each in (True, False))
    for number in range(folds):
        sizes = config.training.relevant, config.training.irrelevant
        taken = (
            np.take(order, range(number * size, (number + 1) * size), mode="wrap")
            for order, size in zip((yes, no), sizes, strict=True)
        )
        yield Fold(number, *taken)


def overlaps(name: str, truth: NDArray[np.bool_], folds: list[Fold]) -> str:
    """How many pages are in more than one training set."""
    times = np.bincount(np.concatenate([np.r_[f.relevant, f.irrelevant] for f in folds]))
    again = np.flatnonzero(times > 1)
    counts = f"{truth[again].sum()} relevant and {(~truth[again]).sum()} other pages"
    return f"{name}: {counts} are in two training sets"


def judge(
    model: str, config: TopicConfig, texts: list[str], truth: NDArray[np.bool_], fold: Fold
) -> tuple[float, ...]:
    """Train on one fold and judge the rest of the web."""
    from sklearn.metrics import average_precision_score

    rest = np.setdiff1d(np.arange(len(texts)), np.r_[fold.relevant, fold.irrelevant])
    examples = Examples.of(*([texts[i] for i in part] for part in (fold.relevant, fold.irrelevant)))
    begin = time.process_time()
    trained = train_model(model, examples, fold.number + 1, topic_words(config))
    seconds = time.process_time() - begin
    chances = trained.probabilities([texts[i] for i in rest])
    titles = trained.probabilities([texts[i].partition("\n")[0] for i in rest])
    scores = Scores.of(truth[rest], chances >= THRESHOLD)
    figures = (
        scores.precision,
        scores.recall,
        scores.macro_f1,
        float(average_precision_score(truth[rest], chances)),
        float(average_precision_score(truth[rest], titles)),
        seconds,
    )
    shown = " ".join(f"{figure:.4f}" for figure in figures)
    print(f"{config.name} {model} fold {fold.number}: {shown}", file=sys.stderr, flush=True)
    return figures


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
