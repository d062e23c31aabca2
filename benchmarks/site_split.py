"""How good is a model on sites that it was trained on, and on sites that it has never seen?

A crawl meets pages of sites from which nobody has drawn examples. Pages of one site share names,
phrases and layout, so a model that was trained on some of them judges the others better than it
judges the topic. Both are measured:

- The sites of the web are split at random into two halves; all pages of one half are judged.
- *Sites seen*: training pages are drawn from the whole web, so from the judged sites as well.
- *Sites never seen*: training pages are drawn from the other half.

The judged pages are the same both times, apart from those that were drawn to train on. A web of one
site has the first figure only. A draw follows from its number, so all models learn from the same
pages and judge the same pages.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tres.offline.web import Web
from tres.relevance.cross_validation import Scores
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD
from tres.relevance.model_kinds import MODEL_KINDS, train_model
from tres.runs.topic_perceiver import topic_words
from tres.settings.topic_file import TopicConfig
from tres.web.url import site_of

SEEN, NEVER_SEEN = PLACES = ("sites seen", "sites never seen")

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]


def arguments(description: str) -> argparse.ArgumentParser:
    """The part of the command line that all comparisons of models share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("topics", type=Path, nargs="+", help="topic files with labels")
    parser.add_argument("--web", required=True)
    parser.add_argument("--models", nargs="+", choices=MODEL_KINDS, default=list(MODEL_KINDS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--judge", type=int, help="pages to judge, drawn at random  [all]")
    return parser


@dataclass(frozen=True)
class WebPages:
    """All pages of a web, in its order."""

    urls: tuple[str, ...]
    texts: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, web: Web) -> WebPages:
        rows = ((page.url, page.content, page.labels) for page in web.pages())
        return cls(*zip(*rows, strict=True))

    @cached_property
    def sites(self) -> NDArray[np.str_]:
        return np.array([site_of(url) for url in self.urls])

    def relevant(self, wanted: Sequence[str]) -> Flags:
        """Which pages carry one of the labels, or a label below it."""
        return np.array(
            [
                any(f"{label}/".startswith(f"{each}/") for label in labels for each in wanted)
                for labels in self.labels
            ]
        )


@dataclass(frozen=True, slots=True)
class Split:
    """Pages to train on, each class in random order, and pages to judge."""

    relevant: Places
    irrelevant: Places
    judged: Places

    def first(self, relevant: int, irrelevant: int) -> Split:
        """Train on the first pages of each class only, and judge none of them."""
        yes, no = self.relevant[:relevant], self.irrelevant[:irrelevant]
        return Split(yes, no, np.setdiff1d(self.judged, np.concatenate((yes, no))))


class Figures(NamedTuple):
    """How good one model was."""

    precision: float
    recall: float
    macro_f1: float
    average_precision: float
    """How well pages are ranked, whatever the threshold."""
    titles: float
    """Average precision if the model sees titles alone, as it sees anchors."""
    seconds: float
    """Processor time of the training."""


@dataclass(frozen=True, slots=True)
class LabelledTopic:
    """A topic on a web whose labels say which pages are relevant."""

    config: TopicConfig
    pages: WebPages
    truth: Flags

    @classmethod
    def of(cls, config: TopicConfig, pages: WebPages) -> LabelledTopic:
        truth = pages.relevant(config.training.labels)
        if not truth.any():
            sys.exit(f"{config.name}: no page carries its labels; name a topic file with labels")
        return cls(config, pages, truth)

    def __str__(self) -> str:
        return f"{self.config.name} ({self.truth.sum():,} of {len(self.truth):,} pages)"

    def splits(self, draw: int, judge: int | None = None) -> Iterator[tuple[str, Split]]:
        """One split per figure, with its name."""
        rng = np.random.default_rng(draw)
        sites = rng.permutation(np.unique(self.pages.sites))
        in_half = np.isin(self.pages.sites, sites[: (len(sites) + 1) // 2])
        judged = rng.permutation(np.flatnonzero(in_half))[:judge]
        yield SEEN, self._split(np.arange(len(self.truth)), judged, rng)
        if len(sites) > 1:
            yield NEVER_SEEN, self._split(np.flatnonzero(~in_half), judged, rng)

    def _split(self, source: Places, judged: Places, rng: np.random.Generator) -> Split:
        classes = (source[self.truth[source] == each] for each in (True, False))
        return Split(*map(rng.permutation, classes), judged)

    def measure(self, kind: str, split: Split, draw: int, titles: bool = False) -> Figures:
        """Train a model on a split, and judge with it."""
        texts, sites = self.pages.texts, self.pages.sites
        drawn = split.relevant, split.irrelevant
        examples = Examples.of(
            *([texts[place] for place in places] for places in drawn),
            sites=sites[np.concatenate(drawn)].tolist(),
        )
        begin = time.process_time()
        model = train_model(kind, examples, draw, topic_words(self.config))
        seconds = time.process_time() - begin
        truth, judged = self.truth[split.judged], [texts[place] for place in split.judged]
        chances = model.probabilities(judged)
        headings = [text.partition("\n")[0] for text in judged] if titles else []
        return Figures(
            *Scores.of(truth, chances >= THRESHOLD),
            average_precision(truth, chances),
            average_precision(truth, model.probabilities(headings)) if titles else np.nan,
            seconds,
        )


def average_precision(truth: Flags, chances: NDArray[np.float32]) -> float:
    """The mean of the precisions at every relevant page, in the order of the probabilities."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, chances))


def mean_and_spread(figures: Sequence[float]) -> str:
    """Mean and standard deviation; "-" if there is no figure."""
    return f"{np.mean(figures):.3f} ± {np.std(figures):.3f}" if figures else "-"


def explain_dashes(pages: WebPages) -> None:
    """Say why a table has no second figures, if it has none."""
    if len(np.unique(pages.sites)) == 1:
        print(f'\n"-": this web is one site, so it has no {NEVER_SEEN}')
