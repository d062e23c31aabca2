"""How good models are with few labels, on sites seen and on sites never seen.

    cd benchmarks/topics
    python ../labels.py sound.toml mathematics.toml databases.toml --web docs.jsonl.gz \
        --models tfidf svm --labels 30 300 1150
    python ../labels.py biology.toml geography.toml --web encyclopedia.jsonl.gz

Labels are drawn at random, 15 relevant ones in 115 as in the paper; `site_split.py` says from which
sites, and which pages are judged. Models learn from the labels and the keywords of the topic file
alone. A larger set of labels contains the smaller ones. Prints macro F1 and average precision, mean
and standard deviation over the draws, one row per model.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

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

LABELS = (10, 30, 100, 300, 1150)
RELEVANT_SHARE = 150 / 1150
MEASURES = {"macro F1": "macro_f1", "avg. precision": "average_precision"}

Measured = dict[tuple[int, str, str], list[Figures]]
"""By number of labels, model and place: the figures of the draws."""


def main() -> None:
    """Print one table, in Markdown."""
    parser = arguments("Quality of models against the number of labels.")
    parser.add_argument("--labels", nargs="+", type=int, default=LABELS)
    options = parser.parse_args()
    pages = WebPages.of(open_web(options.web))
    columns = [f"{measure}, {place}" for measure in MEASURES for place in PLACES]
    print(f"| topic | labels | model | {' | '.join(columns)} |\n|{'---|' * (3 + len(columns))}")
    for config in map(load_topic, options.topics):
        topic = LabelledTopic.of(config, pages)
        measured = measure(topic, options)
        for count in options.labels:
            for model in options.models:
                cells = row(measured, count, model)
                print(f"| {topic} | {count:,} | {model} | {' | '.join(cells)} |", flush=True)
    explain_dashes(pages)


def measure(topic: LabelledTopic, options: argparse.Namespace) -> Measured:
    """Train and judge every model with every number of labels, draw by draw."""
    measured: Measured = defaultdict(list)
    for draw in range(options.draws):
        for place, split in topic.splits(draw, options.judge):
            for count in options.labels:
                relevant = round(count * RELEVANT_SHARE)
                part = split.first(relevant, count - relevant)
                for model in options.models:
                    figures = topic.measure(model, part, draw)
                    measured[count, model, place].append(figures)
                    print(topic.config.name, draw, place, count, model, figures, file=sys.stderr)
    return measured


def row(measured: Measured, count: int, model: str) -> list[str]:
    """The cells of one model: each measure on sites seen and on sites never seen."""
    return [
        mean_and_spread([getattr(each, measure) for each in measured[count, model, place]])
        for measure in MEASURES.values()
        for place in PLACES
    ]


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
