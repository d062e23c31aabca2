"""Experience replay, with the next actions as ranges of row ids (section 2.4.2).

A transition is (x, r, A~): the state-action vector as it was chosen, its reward, and the
actions that the next state offered, A~ of the paper: the outlinks of the page just fetched
and the action that the tree sampled next. A~ is not copied but logged: one id per action in
a log, and a transition holds its range. Their vectors are looked up when the transition is
replayed, so they carry what is known of those actions by then. When most of the log belongs to
overwritten transitions, that part is cut off, so memory is bounded like the ring.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tres.mdp.columns import Column, Floats, Ids

SMALLEST_LOG_TO_CUT = 4096


class Transitions(NamedTuple):
    """A minibatch; the actions of transition i are actions[bounds[i]:bounds[i + 1]]."""

    vectors: Floats
    rewards: Floats
    actions: Ids
    bounds: NDArray[np.int64]


class Replay:
    """A ring of the last `capacity` transitions, sampled uniformly."""

    def __init__(self, capacity: int, width: int) -> None:
        self._capacity = capacity
        self._vectors = Column(np.float32, width=width)
        self._rewards = Column(np.float32)
        self._range = Column(np.int64, width=2)
        self._log = Column(np.int32)
        self._added = 0

    def __len__(self) -> int:
        """The number of transitions."""
        return len(self._rewards)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(c.nbytes for c in (self._vectors, self._rewards, self._range, self._log))

    def add(self, vector: Floats, reward: float, actions: Ids) -> None:
        """Add a transition; when full, it replaces the oldest one."""
        place = self._added % self._capacity
        self._cut_log()
        start = len(self._log)
        self._log.extend(actions)
        for column in (self._vectors, self._rewards, self._range):
            column.resize(min(self._added + 1, self._capacity))
        self._vectors.view[place] = vector
        self._rewards.view[place] = reward
        self._range.view[place] = start, len(self._log)
        self._added += 1

    def _cut_log(self) -> None:
        """Drop the actions of transitions that the ring has overwritten, once they are most of it.

        The ranges lie in the log in the order of their transitions, and the oldest one is about
        to be overwritten.
        """
        if self._added < self._capacity:
            return
        gone = int(self._range.view[self._added % self._capacity, 1])
        if gone > max(SMALLEST_LOG_TO_CUT, len(self._log) // 2):
            self._log.replace(self._log.view[gone:])
            self._range.view[:] -= gone

    def sample(self, batch: int, rng: np.random.Generator) -> Transitions:
        """Draw `batch` transitions, uniformly and with replacement."""
        chosen = rng.integers(len(self), size=batch)
        start, stop = self._range.view[chosen].T
        bounds = np.concatenate([[0], np.cumsum(stop - start)])
        offset = np.arange(bounds[-1]) - np.repeat(bounds[:-1], stop - start)
        actions = self._log.view[np.repeat(start, stop - start) + offset]
        return Transitions(self._vectors.view[chosen], self._rewards.view[chosen], actions, bounds)
