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
    sites: tuple[str, ...] | None = None
    """The site of each text; None unless the sites of all texts are known."""

    @classmethod
    def of(
        cls,
        relevant: Iterable[str],
        irrelevant: Iterable[str],
        sites: Iterable[str] | None = None,
    ) -> Examples:
        """Examples of both classes, the relevant ones first; `sites` are in the same order."""
        yes, no = tuple(relevant), tuple(irrelevant)
        labels = (True,) * len(yes) + (False,) * len(no)
        return cls(yes + no, labels, sites=None if sites is None else tuple(sites))

    @property
    def relevant(self) -> tuple[str, ...]:
        return tuple(compress(self.texts, self.labels))

    @property
    def irrelevant(self) -> tuple[str, ...]:
        return tuple(compress(self.texts, [not label for label in self.labels]))

    @property
    def by_class(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The relevant texts, and the others."""
        return self.relevant, self.irrelevant

    def without_weights(self) -> Examples:
        """Repeat each text in proportion to its weight: once if it has the smallest one."""
        if self.weights is None:
            return self
        smallest = min(self.weights, default=1.0)
        copies = [round(weight / smallest) for weight in self.weights]
        places = np.repeat(np.arange(len(copies)), copies).tolist()
        places.sort(key=lambda place: not self.labels[place])  # the relevant ones first
        return replace(self.subset(places), weights=None)

    def subset(self, places: Sequence[int]) -> Examples:
        """The examples at these places, in this order."""

        def taken(values: Sequence[T]) -> tuple[T, ...]:
            return tuple(values[place] for place in places)

        return Examples(
            taken(self.texts),
            taken(self.labels),
            None if self.weights is None else taken(self.weights),
            None if self.sites is None else taken(self.sites),
        )


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
    pages: Iterable[tuple[str, tuple[str, ...], str]],
    labels: Sequence[str],
    relevant: int,
    irrelevant: int,
    seed: int,
) -> Examples:
    """Sample examples from pages given as (content, labels, site).

    A page is relevant if it has one of `labels` or a label below it: `Science` includes
    `Science/Biology`. A class with fewer pages than asked for is taken whole.
    """
    topic_labels = [label.strip("/") for label in labels]
    rngs = np.random.default_rng(seed).spawn(2)
    yes = Reservoir[tuple[str, str]](relevant, rngs[0])
    no = Reservoir[tuple[str, str]](irrelevant, rngs[1])
    labels_of_web: set[str] = set()
    for content, page_labels, site in pages:
        labels_of_web.update(page_labels)
        (yes if _has_label(page_labels, topic_labels) else no).offer((content, site))
    _refuse_unknown_labels(topic_labels, labels_of_web)
    if not no.sample:
        raise TrainingError(
            f"{format_count(yes.offered, 'page carries', 'pages carry')} the label "
            f"{' or '.join(topic_labels)} and no other page is left as an irrelevant example; "
            "name a narrower label"
        )
    contents, sites = zip(*yes.sample, *no.sample, strict=True)
    return Examples.of(contents[: len(yes.sample)], contents[len(yes.sample) :], sites)


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
    sites: Mapping[str, str] | None = None,
    taught: Collection[str] = (),
) -> Examples:
    """Join weighted examples or guesses with judgements (text -> relevant; `sites`: its site).

    A language model has judged the texts in `taught`, a person the others.
    """
    weights = np.array(examples.weights or (1.0,) * len(examples.texts))
    labels = np.array(examples.labels, np.bool_)
    kept = np.array([text not in judgements for text in examples.texts], np.bool_)
    certain = [*labels[kept & (weights > 1.0)].tolist(), *judgements.values()]
    if min(sum(certain), len(certain) - sum(certain)) >= enough:
        kept &= weights > 1.0
    before = examples.subset(np.flatnonzero(kept).tolist())
    judged = (TAUGHT_WEIGHT if text in taught else JUDGED_WEIGHT for text in judgements)
    return Examples(
        (*before.texts, *judgements),
        (*before.labels, *judgements.values()),
        (*weights[kept].tolist(), *judged),
        _joined_sites(before, judgements, sites),
    )


def _joined_sites(
    examples: Examples, judgements: Iterable[str], sites: Mapping[str, str] | None
) -> tuple[str, ...] | None:
    """Return the sites of examples and judged texts, if those of all are known."""
    if sites is None or (examples.sites is None and examples.texts):
        return None
    return (*(examples.sites or ()), *(sites[text] for text in judgements))
