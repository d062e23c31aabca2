"""Stratified folds: parts of the examples, each with the same share of both classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def stratified_folds(
    truth: NDArray[np.bool_], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the fold of each example."""
    fold_of = np.empty(len(truth), np.intp)
    for members in (np.flatnonzero(truth), np.flatnonzero(~truth)):
        fold_of[rng.permutation(members)] = np.arange(len(members)) % folds
    return fold_of
