"""`tres-sync`: the brute force that the Tree-Frontier approximates (section 2.5).

Every action of the frontier is scored again before every choice, so the choice is the exact
argmax of Q over A_t. It is what `tres` would do if evaluations cost nothing: the difference
between the two in harvest rate is the price of sampling, the ratio of their evaluations is
what sampling saves (the paper: 320 times at 20,000 steps).
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.frontier.rows import Rows
from tres.frontier.unordered_frontier import UnorderedFrontier, available_rows, random_row
from tres.mdp.columns import Flags
from tres.policies.policy import Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.q_learner import PendingTransition, QLearner, QLearning
from tres.policies.setup import PolicySetup
from tres.settings.sections import AgentSection


class TresSync(QLearning):
    """DDQN over the whole frontier."""

    info = PolicyInfo(
        summary="the same features and network, but every waiting link is scored at every step: "
        "the greedy choice that the tree approximates, and slow",
        q_values=True,
        snapshot_types=(PendingTransition,),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        return cls(setup.rows(), setup.rng, setup.settings.agent)

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        self._rng, agent_rng, replay_rng = rng.spawn(3)
        super().__init__(rows, UnorderedFrontier(rows))
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self.evaluations = 0

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the best of all rows, or a random one while exploring."""
        rows = available_rows(self.rows, waiting)
        if len(rows) == 0:
            return None
        if self.learner.explores(self._rng):
            selected = Selection(random_row(rows, self._rng), explored=True)
        else:
            self.evaluations = len(rows)
            selected = self.best_of(rows, self.learner.values(rows), self.evaluations)
        self.learner.complete(selected.row)
        return selected
