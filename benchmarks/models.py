"""Relevance models side by side, as in Table 1 of the paper: quality on pages never seen.

    python benchmarks/models.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

A draw takes 150 relevant and 1,000 irrelevant pages of an archive by its labels, trains
every model on them, and judges all other pages (or a fixed random part, `--judged`). Given
are mean and standard deviation over the draws: precision and recall of the relevant class,
macro F1, average precision (how well pages are ranked, whatever the threshold), and the
average precision when the models see the titles alone, as they see anchors.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tres.config import MODELS, TopicConfig, load_topic
from tres.experiment.topic import topic_start
from tres.relevance.base import THRESHOLD
from tres.relevance.examples import Examples
from tres.relevance.judge import Scores
from tres.relevance.train import train_model
from tres.webs import open_web

COLUMNS = ("precision", "recall", "macro F1", "avg. precision", "titles alone", "training s")


def main() -> None:
    """Print one table per topic."""
    options = arguments()
    config = load_topic(options.topic)
    texts, truth = labelled(config, options.web)
    print(f"\n{config.name}: {truth.sum():,} of {len(truth):,} pages are relevant\n")
    print(f"| model | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}", flush=True)
    for model in options.models:
        draws = [draw(model, config, texts, truth, options, n) for n in range(options.draws)]
        mean, spread = np.mean(draws, 0), np.std(draws, 0)
        cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[:-1], spread[:-1], strict=True)]
        print(f"| {model} | {' | '.join(cells)} | {mean[-1]:.0f} |", flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare relevance models on one archive.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--judged", type=int, help="judge a fixed random part, this many pages")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    return parser.parse_args()


def labelled(config: TopicConfig, web: str) -> tuple[list[str], np.ndarray]:
    """All pages of a web, and which of them carry the topic's labels."""
    texts, truth = [], []
    wanted = config.training.labels
    for page in open_web(web).pages():
        texts.append(page.content)
        truth.append(any(f"{label}/".startswith(f"{w}/") for label in page.labels for w in wanted))
    return texts, np.array(truth)


def draw(
    model: str,
    config: TopicConfig,
    texts: list[str],
    truth: np.ndarray,
    options: argparse.Namespace,
    number: int,
) -> tuple[float, ...]:
    """Train on one sample and judge the rest."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(100 + number)
    yes = rng.permutation(np.flatnonzero(truth))[: config.training.relevant]
    no = rng.permutation(np.flatnonzero(~truth))[: config.training.irrelevant]
    rest = np.setdiff1d(np.arange(len(texts)), np.concatenate([yes, no]))
    if options.judged:
        rest = np.random.default_rng(0).permutation(rest)[: options.judged]
    examples = Examples(tuple(texts[i] for i in yes), tuple(texts[i] for i in no))
    begin = time.process_time()
    trained = train_model(model, examples, number + 1, topic_start(config))
    seconds = time.process_time() - begin
    chances = trained.probabilities([texts[i] for i in rest])
    titles = trained.probabilities([texts[i].partition("\n")[0] for i in rest])
    scores = Scores.of(truth[rest], chances >= THRESHOLD)
    return (
        scores.precision,
        scores.recall,
        scores.macro_f1,
        float(average_precision_score(truth[rest], chances)),
        float(average_precision_score(truth[rest], titles)),
        seconds,
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
