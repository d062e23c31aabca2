"""Relevance models compared, as in Table 1 of the paper, on sites seen and on sites never seen.

    cd benchmarks/topics
    python ../models.py biology.toml geography.toml --web encyclopedia.jsonl.gz
    python ../models.py sound.toml mathematics.toml databases.toml --web docs.jsonl.gz

Every draw gives a training set: 150 relevant and 1,000 irrelevant pages of an archive by its
labels. `site_split.py` says from which sites they are drawn, and which pages are judged. Prints
the mean over the draws, and the standard deviation of the first two measures: macro F1, average
precision (how well pages are ranked, whatever the threshold), precision and recall of the relevant
class, and the average precision when models see only titles, as they see anchors.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from site_split import (
    PLACES,
    Figures,
    LabelledTopic,
    WebPages,
    arguments,
    explain_dashes,
    mean_and_spread,
)
from tres.offline import open_web
from tres.settings.topic_file import load_topic

Measured = dict[tuple[str, str], list[Figures]]
"""By model and place: the figures of the draws."""


def means(*names: str) -> Callable[[list[Figures]], str]:
    """Show the means of some measures, without their spread."""

    def shown(draws: list[Figures]) -> str:
        columns = ([getattr(each, name) for each in draws] for name in names)
        return " / ".join(f"{np.mean(column):.3f}" for column in columns) if draws else "-"

    return shown


MEASURES: dict[str, Callable[[list[Figures]], str]] = {
    "macro F1": lambda draws: mean_and_spread([each.macro_f1 for each in draws]),
    "avg. precision": lambda draws: mean_and_spread([each.average_precision for each in draws]),
    "precision / recall": means("precision", "recall"),
    "titles alone": means("titles"),
}


def main() -> None:
    """Print one table, in Markdown."""
    options = arguments("Compare relevance models on one archive.").parse_args()
    pages = WebPages.of(open_web(options.web))
    columns = [f"{measure}, {place}" for measure in MEASURES for place in PLACES]
    print(f"| topic | model | {' | '.join(columns)} | training s |\n|{'---|' * (3 + len(columns))}")
    for config in map(load_topic, options.topics):
        topic = LabelledTopic.of(config, pages)
        measured = measure(topic, options)
        for model in options.models:
            cells = " | ".join(row(measured, model))
            print(f"| {topic} | {model} | {cells} |", flush=True)
    explain_dashes(pages)


def measure(topic: LabelledTopic, options: argparse.Namespace) -> Measured:
    """Train and judge every model, draw by draw."""
    measured: Measured = defaultdict(list)
    training = topic.config.training
    for draw in range(options.draws):
        for place, split in topic.splits(draw, options.judge):
            part = split.first(training.relevant, training.irrelevant)
            for model in options.models:
                figures = topic.measure(model, part, draw, titles=True)
                measured[model, place].append(figures)
                print(topic.config.name, draw, place, model, figures, file=sys.stderr, flush=True)
    return measured


def row(measured: Measured, model: str) -> Iterator[str]:
    """The cells of one model: each measure on sites seen and on sites never seen."""
    for shown in MEASURES.values():
        yield from (shown(measured[model, place]) for place in PLACES)
    draws = [each for place in PLACES for each in measured[model, place]]
    yield f"{np.mean([each.seconds for each in draws]):.1f}"


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
