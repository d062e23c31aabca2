"""Macro F1 against the number of labels: what ten seeds, keywords and some labels give.

    python benchmarks/labels.py benchmarks/topics/biology-auto.toml \
        --web encyclopedia.jsonl.gz --label Science/Biology

Every draw takes ten random seeds (or `--seeds`) among the relevant pages, explores from them as
`model = "auto"` does, and adds labels drawn at random from the web, 15 relevant ones in 115 as
in the paper. The topic file gives the keywords. The web's labels are the ground truth and label the
drawn examples; exploration and guesses never see them. All pages of the web are judged except seeds
and labelled ones. For `auto` the examples are seeds, guesses and labels by the rule of
`tres.relevance.examples`; `--enough` changes the number at which guesses are dropped. Other
models learn from seeds and labels alone. Prints means and standard deviations over the draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.offline import open_web
from tres.offline.web import Web
from tres.relevance.examples import ENOUGH, Examples, add_judgements
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.relevance.model_kinds import train_model
from tres.relevance.positive_unlabelled import POSITIVE_WEIGHT
from tres.runs.topic_perceiver import explore_topic, topic_words
from tres.settings.topic_file import TopicConfig, load_topic

SEEDS = 10
LABELS = (0, 10, 30, 100, 300, 1150)
RELEVANT_SHARE = 150 / 1150


def main() -> None:
    """Measure and print one table: models across, numbers of labels down."""
    options = arguments()
    config = load_topic(options.topic).override(explore=options.explore)
    web = open_web(options.web)
    truth = Truth(web, options.label, options.judge)
    table = Table(
        "labels", *options.models, title=f"{config.name} on {web.name}, {options.seeds} seeds"
    )
    scores: dict[tuple[int, str], list[float]] = {}
    for draw in range(options.draws):
        for count, model, score in curve(config, web, truth, options, draw):
            scores.setdefault((count, model), []).append(score)
    for count in options.labels:
        table.add_row(f"{count:,}", *(shown(scores.get((count, m), [])) for m in options.models))
    Console(width=100).print(table)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Macro F1 against the number of labels.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--label", required=True, help="the label that is the truth")
    parser.add_argument("--models", nargs="+", default=["auto", "tfidf"])
    parser.add_argument("--labels", nargs="+", type=int, default=LABELS)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--explore", type=int)
    parser.add_argument("--judge", type=int, help="pages to judge, drawn at random  [all]")
    parser.add_argument("--enough", type=int, default=ENOUGH)
    return parser.parse_args()


class Truth:
    """Which pages are relevant, by the labels of the web."""

    def __init__(self, web: Web, label: str, judge: int | None) -> None:
        self.urls: list[str] = []
        self.texts: list[str] = []
        relevant = []
        for page in web.pages():
            self.urls.append(page.url)
            self.texts.append(page.content)
            relevant.append(
                any(each == label or each.startswith(f"{label}/") for each in page.labels)
            )
        self.relevant = np.array(relevant)
        count = len(relevant) if judge is None else min(judge, len(relevant))
        self.judged = np.sort(np.random.default_rng(0).permutation(len(relevant))[:count])

    def macro_f1(self, model: RelevanceModel, given: set[str]) -> float:
        """Mean of the F1 of both classes over all pages whose label was not given."""
        places = [place for place in self.judged.tolist() if self.texts[place] not in given]
        said = model.probabilities([self.texts[place] for place in places]) >= THRESHOLD
        true = self.relevant[places]
        return float(np.mean([f1(said == each, true == each) for each in (True, False)]))


def f1(said: np.ndarray, true: np.ndarray) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * float((said & true).sum()) / max(1.0, float(said.sum() + true.sum()))


def curve(
    config: TopicConfig, web: Web, truth: Truth, options: argparse.Namespace, draw: int
) -> Iterator[tuple[int, str, float]]:
    """All scores of one draw of seeds and labels."""
    rng = np.random.default_rng(draw)
    yes, no = rng.permutation(np.flatnonzero(truth.relevant)), np.flatnonzero(~truth.relevant)
    no, seeds, yes = rng.permutation(no), yes[: options.seeds], yes[options.seeds :]
    drawn = config.override(seeds=[truth.urls[i] for i in seeds], seed=draw)
    guesses = explore_topic(drawn, web, drawn.topic.seeds).guesses
    seed_texts = tuple(truth.texts[i] for i in seeds)
    alone = Examples(seed_texts, (True,) * len(seeds), (POSITIVE_WEIGHT,) * len(seeds))
    for count in options.labels:
        relevant = round(count * RELEVANT_SHARE)
        judged = {truth.texts[i]: True for i in yes[:relevant]}
        judged |= {truth.texts[i]: False for i in no[: count - relevant]}
        for kind in options.models:
            if kind != "auto" and not judged:
                continue  # these learn from labels only
            before = guesses if kind == "auto" else alone
            examples = add_judgements(before, judged, options.enough)
            model = train_model(kind, examples, draw, topic_words(config))
            yield count, kind, truth.macro_f1(model, {*seed_texts, *judged})


def shown(scores: list[float]) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(scores):.3f} ± {np.std(scores):.3f}" if scores else "-"


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
