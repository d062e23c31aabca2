"""Table 2 of the paper: new keywords, and how often they occur in relevant and other pages.

    cd benchmarks/topics
    python ../keywords.py biology.toml geography.toml --web encyclopedia.jsonl.gz

`examples` counts on the example pages in which the keywords were found, as the paper does; `the
rest` counts on all other pages of the archive, which is the honest figure where words are chosen by
how often they occur. The first row of a topic is Algorithm 1 alone, the second one the default of
tres; `--contrast` adds others. The table is Markdown; `--words` also prints the keywords.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tres.offline import open_web
from tres.offline.web import Web
from tres.relevance.examples import Examples
from tres.runs.topic_perceiver import find_keywords, topic_examples
from tres.settings.sections import VECTORS
from tres.settings.topic_file import TopicConfig, load_topic
from tres.topic.expansion import Expansion
from tres.topic.text import words

COLUMNS = ("topic", "method", "given", "new", "examples: C", "C'", "C/C'", "the rest: C", "C'")
ALGORITHM_1 = {"contrast": 0.0, "common_components": 0, "min_documents": 1}
FEWEST = 20
"""Relevant pages that the rest must have to be reported."""


def main() -> None:
    """Expand the keywords of every topic and print one table."""
    options = arguments()
    web = open_web(options.web)
    methods: dict[str, dict[str, float]] = {"Algorithm 1": ALGORITHM_1, "tres": {}}
    methods |= {f"contrast = {c:g}": {"contrast": c} for c in options.contrast}
    print(f"| {' | '.join(COLUMNS)} | C/C' |\n|{'---|' * (len(COLUMNS) + 1)}", flush=True)
    for path in options.topics:
        config = load_topic(path).override(vectors=options.vectors)
        examples = topic_examples(config, web)
        found = [find_keywords(config.override(**rules), examples) for rules in methods.values()]
        rest = on_the_rest(config, web, examples, found)
        for method, expansion, counted in zip(methods, found, rest, strict=True):
            cells = [config.name, method, *figures(expansion), *counted]
            print(f"| {' | '.join(cells)} |", flush=True)
            if options.words:
                print(", ".join(expansion.words))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure keyword expansion on one archive.")
    parser.add_argument("topics", type=Path, nargs="+")
    parser.add_argument("--web", required=True)
    parser.add_argument("--vectors", default=VECTORS[0])
    parser.add_argument("--contrast", nargs="+", type=float, default=[])
    parser.add_argument("--words", action="store_true", help="name the keywords")
    return parser.parse_args()


def figures(expansion: Expansion) -> tuple[str, ...]:
    """Numbers of keywords, and their mean counts in the examples."""
    numbers = str(len(expansion.given)), str(len(expansion.found))
    return (*numbers, *compared(expansion.relevant, expansion.other))


def on_the_rest(
    config: TopicConfig, web: Web, examples: Examples, expansions: list[Expansion]
) -> list[tuple[str, str, str]]:
    """Mean counts on the pages that are not examples, for each expansion."""
    used = set(examples.texts)
    found = [set(expansion.words) for expansion in expansions]
    totals, pages = np.zeros((2, len(found))), np.zeros(2, np.int64)
    for page in web.pages():
        if page.content not in used:
            kind = int(carries(page.labels, config.training.labels))
            on_page = words(page.content)
            totals[kind] += [sum(map(each.__contains__, on_page)) for each in found]
            pages[kind] += 1
    if pages[1] < FEWEST:
        return [("", "", "")] * len(found)
    other, relevant = totals / pages[:, None]
    return [compared(*pair) for pair in zip(relevant, other, strict=True)]


def carries(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """Does a page carry one of the labels, or one below it?"""
    return any(label == w or label.startswith(f"{w}/") for label in labels for w in wanted)


def compared(relevant: float, other: float) -> tuple[str, str, str]:
    """Two mean counts and their ratio."""
    return f"{relevant:.2f}", f"{other:.2f}", f"{relevant / other:.1f}" if other else ""


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
