"""The best split of a leaf: variance reduction of the rewards (equations 3 and 4).

A split (f, c) sends the rows with x_f < c to the left and the others to the right. Its
worth is

    VR(P, f, c) = V(P) - |L|/|P| V(L) - |R|/|P| V(R),

V being the variance of the rewards in a node (with divisor n, so that the three terms are
the law of total variance and VR is never negative). As |P| V(P) is a sum of squares minus
S_P^2 / |P|, S being the sum of the rewards, the squares cancel:

    |P| VR = S_L^2 / |L| + S_R^2 / |R| - S_P^2 / |P|.

So one sort per feature and one running sum give VR for every feature and threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tres.mdp.columns import Floats

NEGLIGIBLE = 1e-9
"""Reductions up to this are rounding errors, not splits."""


class Split(NamedTuple):
    """x[feature] < threshold goes left; `reduction` is VR."""

    feature: int
    threshold: float
    reduction: float


def best_split(vectors: Floats, rewards: Floats) -> Split | None:
    """Return the split with the highest variance reduction; None if none reduces the variance.

    Thresholds lie half-way between two neighbouring values. Among equals the first feature
    of the schema wins, then the lowest threshold.
    """
    # A leaf of equal vectors cannot split and only grows: it must not be sorted at every step.
    features = np.flatnonzero((vectors != vectors[:1]).any(axis=0))
    if len(features) == 0:
        return None
    varying = vectors[:, features]
    order = np.argsort(varying, axis=0, kind="stable")
    values = np.take_along_axis(varying, order, axis=0).astype(np.float64)
    reduction = _reductions(rewards.astype(np.float64)[order])
    reduction[values[1:] <= values[:-1]] = -np.inf  # nothing lies between equal values
    column, cut = np.unravel_index(np.argmax(reduction.T), reduction.T.shape)
    best = float(reduction[cut, column])
    if best <= NEGLIGIBLE:
        return None
    threshold = (values[cut, column] + values[cut + 1, column]) / 2
    return Split(int(features[column]), float(threshold), best)


def _reductions(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """VR of cutting each sorted column after its first, second, ... row."""
    rows = len(rewards)
    left = np.cumsum(rewards, axis=0)
    total = left[-1]
    left = left[:-1]
    size = np.arange(1, rows)[:, None]
    within = left**2 / size + (total - left) ** 2 / (rows - size)
    return np.asarray((within - total**2 / rows) / rows)
