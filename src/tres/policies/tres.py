"""TRES: the Tree-Frontier offers representatives, the DDQN agent chooses (Algorithm 4).

One decision: a representative row is drawn from every leaf and scored with its fresh
vector; while exploring one of them is taken at random, else the one with the highest Q.

Past the paper, a second look (`representatives` > 1): the best few leaves are sampled again,
more densely, before the maximum is taken. One draw per leaf finds the right leaf but an
average row of it; a second draw where it pays costs some hundred evaluations and finds one
of the best rows. With `representatives` = 1 the algorithm is the paper's to the letter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tres.agent.ddqn import Batch, DoubleDqn
from tres.agent.replay import Replay
from tres.frontier.rows import Change, Rows
from tres.frontier.tree import Tree
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.steps import Step
from tres.policies.base import Pick
from tres.policies.tree_random import TreeRandom
from tres.sections import AgentSection


class Staged(NamedTuple):
    """A transition whose next state's sample is not drawn yet."""

    vector: Floats
    reward: float
    outlinks: Ids


class Tres(TreeRandom):
    """Tree-Frontier and double deep Q-network."""

    SECOND_LOOK = 64
    """Leaves that are looked at twice."""

    def __init__(
        self,
        rows: Rows,
        tree: Tree,
        rng: np.random.Generator,
        settings: AgentSection,
        representatives: int,
    ) -> None:
        tree_rng, agent_rng, self._replay_rng = rng.spawn(3)
        super().__init__(rows, tree, tree_rng)
        self._settings = settings
        self._representatives = representatives
        self.agent = DoubleDqn(rows.schema.width, self._settings, agent_rng)
        self.replay = Replay(self._settings.replay, rows.schema.width)
        self._staged: list[Staged] = []
        self._steps = 0
        self.evaluations = 0
        """Rows scored for the last greedy choice."""

    def pick(self, waiting: Flags | None) -> Pick | None:
        """Algorithm 2, and A~ of the steps that waited for this sample."""
        pick = super().pick(waiting) if self._explores() else self.best(waiting)
        if pick is not None:
            self._complete(np.array([pick.row], np.int32))
        return pick

    def admit(self, step: Step, change: Change) -> None:
        """Stage the transition, and train on a minibatch of the earlier ones."""
        self._steps += 1
        self._staged.append(Staged(step.choice.features, step.experience, change.outlinks))
        if len(self.replay) >= self._settings.batch:
            self._train()

    def _explores(self) -> bool:
        if self._steps < self._settings.warmup:  # steps, so dead links do not shorten it
            return True
        return bool(self._rng.random() < self._settings.epsilon)

    def best(self, waiting: Flags | None) -> Pick | None:
        """The representative with the highest Q, left where it is."""
        frontier = self.tree_frontier
        rows = frontier.sample(frontier.occupied, 1, waiting)
        if len(rows) == 0:
            return None
        values = self.agent.values(self.rows.vectors(rows))
        self.evaluations = len(rows)
        if self._representatives > 1:
            rows, values = self._look_again(rows, values, waiting)
        best = int(np.argmax(values))
        row = int(rows[best])
        return Pick(row, q=float(values[best]), leaf=frontier.leaf(row))

    def _look_again(self, rows: Ids, values: Floats, waiting: Flags | None) -> tuple[Ids, Floats]:
        best = np.arange(len(values))
        if len(values) > self.SECOND_LOOK:
            best = np.argpartition(-values, self.SECOND_LOOK)[: self.SECOND_LOOK]
        leaves = self.tree_frontier.leaves_of(rows[best])
        more = self.tree_frontier.sample(leaves, self._representatives, waiting)
        more_values = self.agent.values(self.rows.vectors(more))
        self.evaluations += len(more)
        return np.concatenate([rows[best], more]), np.concatenate([values[best], more_values])

    def _complete(self, sample: Ids) -> None:
        for staged in self._staged:
            actions = np.concatenate([staged.outlinks, sample])
            self.replay.add(staged.vector, staged.reward, actions)
        self._staged.clear()

    def _train(self) -> None:
        sampled = self.replay.sample(self._settings.batch, self._replay_rng)
        self.agent.learn(
            Batch(
                sampled.vectors,
                sampled.rewards,
                self.rows.vectors(sampled.actions),
                sampled.bounds,
            )
        )
