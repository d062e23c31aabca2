"""TRES: the Tree-Frontier offers representatives, the DDQN agent chooses (Algorithm 4).

One decision: a representative row is drawn from every leaf and scored with its fresh
vector; the one with the highest Q is chosen, or a random one while exploring.

Past the paper, a second look (`representatives` > 1): the best few leaves are sampled again,
more densely, before the maximum is taken. One draw per leaf finds the right leaf but an
average row of it; a second draw where it pays costs some hundred evaluations and finds one
of the best rows. With `representatives` = 1 the algorithm is the paper's to the letter.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.agent.ddqn import DoubleDqn
from tres.agent.replay_buffer import Replay
from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.q_learner import PendingTransition, QLearner, QLearning
from tres.policies.setup import PolicySetup
from tres.policies.tree_random import TreeRandom
from tres.settings.sections import AgentSection


class Tres(QLearning, TreeRandom):
    """Tree-Frontier and double deep Q-network."""

    info = PolicyInfo(
        summary="the default: a sample from every leaf of the "
        "[Tree-Frontier](../how-it-works.md#the-tree-frontier), the best leaves sampled again, "
        "the highest Q-value of a double DQN wins",
        q_values=True,
        snapshot_types=(PendingTransition,),
    )
    SECOND_LOOK = 64
    """Leaves that are sampled twice."""

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        rows, settings = setup.rows(), setup.settings
        tree = setup.tree(rows)
        return cls(rows, tree, setup.rng, settings.agent, settings.tree.representatives)

    def __init__(
        self,
        rows: Rows,
        tree: Tree,
        rng: np.random.Generator,
        settings: AgentSection,
        representatives: int,
    ) -> None:
        tree_rng, agent_rng, replay_rng = rng.spawn(3)
        TreeRandom.__init__(self, rows, tree, tree_rng)
        self._representatives = representatives
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self.evaluations = 0

    @property
    def agent(self) -> DoubleDqn:
        """The agent that estimates Q."""
        return self.learner.agent

    @property
    def replay(self) -> Replay:
        """The replay buffer."""
        return self.learner.replay

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select a row (Algorithm 2), which completes A~ of the pending transitions."""
        explores = self.learner.explores(self._rng)
        selected = super().select(waiting) if explores else self.best(waiting)
        if selected is not None:
            self.learner.complete(selected.row)
        return selected

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Add the experience sample to its leaf, which may split."""
        return self.tree_frontier.learn(step.choice.features, self.learner.reward(step))

    def best(self, waiting: Flags | None) -> Selection | None:
        """Select the representative with the highest Q."""
        frontier = self.tree_frontier
        rows = frontier.sample(frontier.occupied, 1, waiting)
        if len(rows) == 0:
            return None
        values = self.learner.values(rows)
        self.evaluations = len(rows)
        if self._representatives > 1:
            rows, values = self._look_again(rows, values, waiting)
        return self.best_of(rows, values, self.evaluations)

    def _look_again(self, rows: Ids, values: Floats, waiting: Flags | None) -> tuple[Ids, Floats]:
        best = np.arange(len(values))
        if len(values) > self.SECOND_LOOK:
            best = np.argpartition(-values, self.SECOND_LOOK)[: self.SECOND_LOOK]
        leaves = self.tree_frontier.leaves_of(rows[best])
        more = self.tree_frontier.sample(leaves, self._representatives, waiting)
        more_values = self.learner.values(more)
        self.evaluations += len(more)
        return np.concatenate([rows[best], more]), np.concatenate([values[best], more_values])
