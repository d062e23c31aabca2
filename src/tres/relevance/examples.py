"""Examples to learn from, drawn from a web's own labels.

The sample of each class is uniform and without replacement, by reservoir sampling
(Vitter's algorithm R): one pass over the web, no matter how large, and only the drawn
pages are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np

from tres.errors import TrainingError


@dataclass(frozen=True, slots=True)
class Examples:
    """Example texts, the relevant ones first."""

    relevant: tuple[str, ...]
    irrelevant: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return self.relevant + self.irrelevant

    @property
    def labels(self) -> list[bool]:
        return [True] * len(self.relevant) + [False] * len(self.irrelevant)


@dataclass(slots=True)
class Reservoir:
    """A uniform sample of at most `size` of all texts offered so far."""

    size: int
    rng: np.random.Generator
    kept: list[str] = field(default_factory=list)
    offered: int = 0

    def offer(self, text: str) -> None:
        self.offered += 1
        if len(self.kept) < self.size:
            self.kept.append(text)
        elif (place := int(self.rng.integers(self.offered))) < self.size:
            self.kept[place] = text


def examples_from_labels(
    pages: Iterable[tuple[str, tuple[str, ...]]],
    labels: Sequence[str],
    relevant: int,
    irrelevant: int,
    seed: int,
) -> Examples:
    """Draw examples from pages given as (content, labels).

    A page is relevant if it carries one of `labels` or a label below it: `Science` also
    means `Science/Biology`. Where a web has fewer pages of a class than asked for, it
    gives them all.
    """
    wanted = [label.strip("/") for label in labels]
    rngs = np.random.default_rng(seed).spawn(2)
    yes, no = Reservoir(relevant, rngs[0]), Reservoir(irrelevant, rngs[1])
    seen: set[str] = set()
    for content, carried in pages:
        seen.update(carried)
        (yes if _carries(carried, wanted) else no).offer(content)
    _refuse_unseen(wanted, seen)
    if not no.kept:
        raise TrainingError(
            f"all {yes.offered} pages carry the label {' or '.join(wanted)}, none is left as an "
            "irrelevant example; name a narrower label"
        )
    return Examples(tuple(yes.kept), tuple(no.kept))


def _carries(carried: Iterable[str], wanted: Sequence[str]) -> bool:
    return any(
        label == prefix or label.startswith(f"{prefix}/") for label in carried for prefix in wanted
    )


def _refuse_unseen(wanted: Sequence[str], seen: set[str]) -> None:
    """A label that no page carries is a slip of the pen: say which, and what comes near."""
    if not seen:
        raise TrainingError(
            "no page of this web carries labels; give example files (training.positives and "
            "training.negatives) instead"
        )
    for label in wanted:
        if not _carries(seen, [label]):
            near = get_close_matches(label, sorted(seen), n=1, cutoff=0.0)[0]
            raise TrainingError(f"no page carries the label {label!r}; did you mean {near!r}?")
