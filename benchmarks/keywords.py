"""Table 2 of the paper: new keywords, and how often they occur in relevant and other pages.

    python benchmarks/keywords.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

`examples` counts on the example pages among which the keywords were found, as the paper
does; `the rest` counts on all pages of the archive that were no examples, which is the
honest figure where words are chosen by how often they occur. The first row of a topic is
Algorithm 1 alone, the second one what tres does by default.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.config import TopicConfig, load_topic
from tres.experiment.run import find_keywords, topic_examples
from tres.relevance.train import Examples
from tres.sections import VECTORS
from tres.topic.expansion import Expansion
from tres.topic.text import words
from tres.webs import open_web
from tres.webs.base import Web

VARIANTS = {
    "Algorithm 1": {"contrast": 0.0, "common_components": 0, "min_documents": 1},
    "tres": {},
}
FEWEST = 20
"""Relevant pages that the rest must have, or nothing is said about it."""


def main() -> None:
    """Expand the keywords of every topic and print one table."""
    options = arguments()
    web = open_web(options.web)
    columns = ("topic", "method", "given", "new", "examples: C", "C'", "C/C'", "the rest: C", "C'")
    table = Table(*columns, "C/C'", title=f"{options.vectors}, {web.name}")
    for path in options.topics:
        config = load_topic(path).override(vectors=options.vectors)
        examples = topic_examples(config, web)
        for method, rules in VARIANTS.items():
            expansion = find_keywords(config.override(**rules), examples)
            rest = on_the_rest(config, web, examples, expansion)
            table.add_row(config.name, method, *figures(expansion), *rest)
    Console(width=120).print(table)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure keyword expansion on one archive.")
    parser.add_argument("topics", type=Path, nargs="+")
    parser.add_argument("--web", required=True)
    parser.add_argument("--vectors", default=VECTORS[0])
    return parser.parse_args()


def figures(expansion: Expansion) -> tuple[str, ...]:
    """Numbers of keywords, and their mean counts in the examples."""
    numbers = str(len(expansion.given)), str(len(expansion.found))
    return (*numbers, *compared(expansion.relevant, expansion.other))


def on_the_rest(
    config: TopicConfig, web: Web, examples: Examples, expansion: Expansion
) -> tuple[str, ...]:
    """Mean counts on the pages that were no examples."""
    used, found = set(examples.texts), set(expansion.words)
    counts: dict[bool, list[int]] = {True: [], False: []}
    for page in web.pages():
        if page.content not in used:
            relevant = carries(page.labels, config.training.labels)
            counts[relevant].append(sum(word in found for word in words(page.content)))
    if len(counts[True]) < FEWEST:
        return ("", "", "")
    return compared(*(sum(counts[kind]) / len(counts[kind]) for kind in (True, False)))


def carries(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """Does a page carry one of the labels, or one below it?"""
    return any(label == w or label.startswith(f"{w}/") for label in labels for w in wanted)


def compared(relevant: float, other: float) -> tuple[str, str, str]:
    """Two mean counts and their ratio."""
    return f"{relevant:.2f}", f"{other:.2f}", f"{relevant / other:.1f}" if other else ""


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
