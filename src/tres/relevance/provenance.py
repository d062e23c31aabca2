"""What all trainers have in common: examples of both classes, and a record of the origin."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tres.errors import TrainingError
from tres.relevance.model import THRESHOLD


def count_relevant(labels: Sequence[bool]) -> int:
    """How many examples are relevant; `TrainingError` if all or none are."""
    relevant = sum(map(bool, labels))
    if not 0 < relevant < len(labels):
        raise TrainingError(
            f"{relevant} of {len(labels)} example pages are relevant; "
            "a model needs relevant and irrelevant ones"
        )
    return relevant


def prior(labels: Sequence[bool]) -> float:
    """What to say of a text without a known word: the share of relevant examples, but
    never so much that the text would count as relevant."""
    return min(count_relevant(labels) / len(labels), 0.9 * THRESHOLD)


def origin(labels: Sequence[bool], seed: int, packages: Sequence[str]) -> dict[str, Any]:
    """Where a model comes from: numbers of examples, seed, versions."""
    relevant = count_relevant(labels)
    return {
        "relevant": relevant,
        "irrelevant": len(labels) - relevant,
        "seed": seed,
        "versions": {package: version(package) for package in packages},
    }
