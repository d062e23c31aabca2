"""What all trainers share: their inputs, a check, folds, and the record of the training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.numbers import format_part
from tres.relevance.model import THRESHOLD

Progress = Callable[[float], None]
"""Called with the share of the training that is done."""


@dataclass(frozen=True, slots=True)
class TopicWords:
    """What a topic file says about the topic besides examples, and what knows its words."""

    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    vectors: str | Path = "glove-6b-50d"
    description: str = ""
    encoder: str = "minilm"
    """The transformer of a model that has one."""


def require_both_classes(labels: Sequence[bool]) -> None:
    """`TrainingError` if all examples are relevant, or none."""
    relevant, total = int(sum(labels)), len(labels)
    if not 0 < relevant < total:
        part = format_part(relevant, total, "example page") if total else "no example page is"
        raise TrainingError(f"{part} relevant; a model needs relevant and irrelevant ones")


def stratified_folds(
    truth: NDArray[np.bool_], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the fold of each example; every fold has the same share of both classes."""
    fold_of = np.empty(len(truth), np.intp)
    for members in (np.flatnonzero(truth), np.flatnonzero(~truth)):
        fold_of[rng.permutation(members)] = np.arange(len(members)) % folds
    return fold_of


def site_folds(
    truth: NDArray[np.bool_], sites: Sequence[str], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the fold of each example; all examples of a site are in one fold.

    Sites are placed one by one, those with the largest shares of a class first, each in the fold
    that is poorest in what the site has. This fold adds least to the sum of the squared shares of
    the folds, which is smallest when all folds have the same share of both classes. A fold stays
    without a class if too few sites have examples of it.
    """
    _, site_of = np.unique(sites, return_inverse=True)
    shares = _class_shares(truth, site_of)
    order = rng.permutation(len(shares))  # decides between sites of one size
    largest_first = order[np.argsort(-np.linalg.norm(shares[order], axis=1), kind="stable")]
    fold_of = np.empty(len(shares), np.intp)
    held = np.zeros((folds, 2))
    for site in largest_first:
        fold_of[site] = np.lexsort((held.sum(1), held @ shares[site]))[0]
        held[fold_of[site]] += shares[site]
    return fold_of[site_of]


def _class_shares(truth: NDArray[np.bool_], site_of: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return which share of the relevant and of the other examples each site has."""
    sites = site_of.max(initial=-1) + 1
    classes = [np.bincount(site_of[truth == each], minlength=sites) for each in (True, False)]
    counts = np.stack(classes, axis=1)
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(0), 1)
    return shares


def prior_probability(labels: Sequence[bool]) -> float:
    """The probability for texts without a known word.

    It is the share of relevant examples, but always below the threshold.
    """
    return min(int(sum(labels)) / len(labels), 0.9 * THRESHOLD)


def training_record(labels: Sequence[bool], seed: int, packages: Sequence[str]) -> dict[str, Any]:
    """The provenance of a model: numbers of examples, seed, versions of packages."""
    return {
        "relevant": (relevant := int(sum(labels))),
        "irrelevant": len(labels) - relevant,
        "seed": seed,
        "versions": {package: version(package) for package in packages},
    }
