"""Double deep Q-learning over state-action vectors (section 2.4.2).

The online network theta chooses, the target network theta- values:

    y = r + gamma * Q_theta-( x(s', argmax over a' in A~ of Q_theta(x(s', a'))) )

and theta descends the squared error (y - Q_theta(x))^2 on minibatches from replay, while
theta- is a copy of theta renewed every `target_every` updates. A crawl has no terminal
state: running out of budget truncates it, so the bootstrap is never cut. Only a transition
after which nothing at all could be fetched has no next action and keeps y = r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tres.agent.adam import Adam
from tres.agent.q_network import QNetwork
from tres.mdp.columns import Floats
from tres.settings.sections import AgentSection


class Batch(NamedTuple):
    """A minibatch with the vectors of its next actions, ragged: bounds[i]:bounds[i + 1]."""

    vectors: Floats
    rewards: Floats
    next_vectors: Floats
    bounds: NDArray[np.int64]


def best_actions(
    values: Floats, bounds: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which transitions have a next action, and the index of their best one (first of equals)."""
    lengths = np.diff(bounds)
    has_next = np.flatnonzero(lengths)
    if len(has_next) == 0:
        return has_next, has_next
    starts = bounds[has_next]
    peaks = np.repeat(np.maximum.reduceat(values, starts), lengths[has_next])
    at_peak = np.flatnonzero(values == peaks)
    return has_next, at_peak[np.searchsorted(at_peak, starts)]


class DoubleDqn:
    """The learner: two networks of one shape, one optimiser for the online one."""

    def __init__(self, width: int, settings: AgentSection, rng: np.random.Generator) -> None:
        self._settings = settings
        self._network = QNetwork(width, settings.hidden)
        self._online = self._network.initial(rng)
        self._target = self._online.copy()
        self._optimiser = Adam(self._network.size, settings.learning_rate)
        self._updates = 0

    def values(self, vectors: Floats) -> Floats:
        """Q of the online network."""
        return self._network.values(self._online, vectors)

    def learn(self, batch: Batch) -> float:
        """One optimiser step on a minibatch; returns the loss before it."""
        loss, gradient = self._network.gradient(self._online, batch.vectors, self.targets(batch))
        self._optimiser.step(self._online, gradient)
        self._updates += 1
        if self._updates % self._settings.target_every == 0:
            self._target[:] = self._online
        return loss

    def targets(self, batch: Batch) -> Floats:
        """y for every transition of a minibatch."""
        targets = batch.rewards.astype(np.float32, copy=True)
        if self._settings.gamma == 0 or len(batch.next_vectors) == 0:
            return targets
        online = self._network.values(self._online, batch.next_vectors)
        has_next, best = best_actions(online, batch.bounds)
        value = self._network.values(self._target, batch.next_vectors[best])
        targets[has_next] += np.float32(self._settings.gamma) * value
        return targets
