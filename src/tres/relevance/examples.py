"""Examples to train on, and how they are sampled from the labels of a web.

Each class is sampled uniformly and without replacement, by reservoir sampling (Vitter's
algorithm R): one pass over the web, however large it is, and only the sampled pages are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import compress

import numpy as np

from tres.errors import TrainingError
from tres.numbers import format_count


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
class Reservoir:
    """A uniform sample of at most `size` of all texts offered so far."""

    size: int
    rng: np.random.Generator
    sample: list[str] = field(default_factory=list)
    offered: int = 0

    def offer(self, text: str) -> None:
        self.offered += 1
        if len(self.sample) < self.size:
            self.sample.append(text)
        elif (place := int(self.rng.integers(self.offered))) < self.size:
            self.sample[place] = text


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
    yes, no = Reservoir(relevant, rngs[0]), Reservoir(irrelevant, rngs[1])
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
            near = get_close_matches(label, sorted(labels_of_web), n=1, cutoff=0.0)[0]
            raise TrainingError(f"no page carries the label {label!r}; did you mean {near!r}?")
