"""Examples to train on: sampled from the labels of a web, and joined with judgements.

Each class is sampled uniformly and without replacement, by reservoir sampling (Vitter's
algorithm R): one pass over the web, however large it is, and only the sampled pages are kept.

A run's first model learns from such examples or from guesses
(`tres.relevance.positive_unlabelled`). When a person judges pages of the run, a new model is
trained, because a judgement counts more than a guess:

- A judged page weighs `JUDGED_WEIGHT` times as much as a guess, and replaces the guess about it;
  one that a language model has judged weighs `TAUGHT_WEIGHT` times as much.
- Guesses are used while there are few judgements, and left out from `ENOUGH` examples of the
  rarer class on (judged or labelled, seeds included).

`ENOUGH` is measured, not derived: the curves in docs/few-labels-measured.md show where examples
alone become better than examples and guesses together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import compress
from typing import Generic, TypeVar

import numpy as np

from tres.errors import TrainingError
from tres.numbers import format_count

T = TypeVar("T")

JUDGED_WEIGHT, TAUGHT_WEIGHT = 5.0, 3.0
ENOUGH = 100
SHOWN_LABELS = 8


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their labels (relevant or not), and with weights if some count more."""

    texts: tuple[str, ...]
    labels: tuple[bool, ...]
    weights: tuple[float, ...] | None = None

    @classmethod
    def of(cls, relevant: Iterable[str], irrelevant: Iterable[str]) -> Examples:
        """Examples of both classes, the relevant ones first."""
        yes, no = tuple(relevant), tuple(irrelevant)
        return cls(yes + no, (True,) * len(yes) + (False,) * len(no))

    @property
    def relevant(self) -> tuple[str, ...]:
        return tuple(compress(self.texts, self.labels))

    @property
    def irrelevant(self) -> tuple[str, ...]:
        return tuple(compress(self.texts, [not label for label in self.labels]))

    def without_weights(self) -> Examples:
        """Repeat each text in proportion to its weight: once if it has the smallest one."""
        if self.weights is None:
            return self
        smallest = min(self.weights, default=1.0)
        copies: dict[bool, list[str]] = {True: [], False: []}
        for text, label, weight in zip(self.texts, self.labels, self.weights, strict=True):
            copies[label] += [text] * round(weight / smallest)
        return Examples.of(copies[True], copies[False])


@dataclass(slots=True)
class Reservoir(Generic[T]):
    """A uniform sample of at most `size` of all examples offered so far."""

    size: int
    rng: np.random.Generator
    sample: list[T] = field(default_factory=list)
    offered: int = 0

    def offer(self, example: T) -> None:
        self.offered += 1
        if len(self.sample) < self.size:
            self.sample.append(example)
        elif (place := int(self.rng.integers(self.offered))) < self.size:
            self.sample[place] = example


def examples_from_labels(
    pages: Iterable[tuple[str, tuple[str, ...]]],
    labels: Sequence[str],
    relevant: int,
    irrelevant: int,
    seed: int,
) -> Examples:
    """Sample examples from pages given as (content, labels).

    A page is relevant if it has one of `labels` or a label below it: `Science` includes
    `Science/Biology`. A class with fewer pages than asked for is taken whole.
    """
    topic_labels = [label.strip("/") for label in labels]
    rngs = np.random.default_rng(seed).spawn(2)
    yes, no = Reservoir[str](relevant, rngs[0]), Reservoir[str](irrelevant, rngs[1])
    labels_of_web: set[str] = set()
    for content, page_labels in pages:
        labels_of_web.update(page_labels)
        (yes if _has_label(page_labels, topic_labels) else no).offer(content)
    _refuse_unknown_labels(topic_labels, labels_of_web)
    if not no.sample:
        raise TrainingError(
            f"{format_count(yes.offered, 'page carries', 'pages carry')} the label "
            f"{' or '.join(topic_labels)} and no other page is left as an irrelevant example; "
            "name a narrower label"
        )
    return Examples.of(yes.sample, no.sample)


def _has_label(page_labels: Iterable[str], topic_labels: Sequence[str]) -> bool:
    return any(
        label == prefix or label.startswith(f"{prefix}/")
        for label in page_labels
        for prefix in topic_labels
    )


def _refuse_unknown_labels(topic_labels: Sequence[str], labels_of_web: set[str]) -> None:
    """Refuse a label that no page has: it is probably misspelt, so suggest the closest one."""
    if not labels_of_web:
        raise TrainingError(
            "no page of this web carries labels; give example files (training.positives and "
            "training.negatives) instead"
        )
    for label in topic_labels:
        if not _has_label(labels_of_web, [label]):
            raise TrainingError(
                f"no page carries the label {label!r}; {_hint(label, labels_of_web)}"
            )


def _hint(label: str, labels_of_web: set[str]) -> str:
    """Return the label that was probably meant or, if none is close, the first few there are."""
    if near := get_close_matches(label, sorted(labels_of_web), n=1):
        return f"did you mean {near[0]!r}?"
    more = ", ..." if len(labels_of_web) > SHOWN_LABELS else ""
    return f"this web has {', '.join(map(repr, sorted(labels_of_web)[:SHOWN_LABELS]))}{more}"


def weigh_as_judged(examples: Examples) -> Examples:
    """Give labelled examples the weight of judgements."""
    return replace(examples, weights=(JUDGED_WEIGHT,) * len(examples.texts))


def add_judgements(
    examples: Examples,
    judgements: Mapping[str, bool],
    enough: int = ENOUGH,
    taught: Collection[str] = (),
) -> Examples:
    """Join weighted examples or guesses with judgements (text -> relevant).

    A language model has judged the texts in `taught`, a person the others.
    """
    weights = examples.weights or (1.0,) * len(examples.texts)
    rows = [
        row
        for row in zip(examples.texts, examples.labels, weights, strict=True)
        if row[0] not in judgements
    ]
    certain = [label for _, label, weight in rows if weight > 1.0] + list(judgements.values())
    if min(sum(certain), len(certain) - sum(certain)) >= enough:
        rows = [row for row in rows if row[2] > 1.0]
    rows += [
        (text, label, TAUGHT_WEIGHT if text in taught else JUDGED_WEIGHT)
        for text, label in judgements.items()
    ]
    return Examples(*(zip(*rows, strict=True) if rows else ((), (), ())))
