"""TRES: the Tree-Frontier offers representatives, the DDQN agent chooses (Algorithm 4).

One decision: a representative row is drawn from every leaf and scored with its fresh
vector; while exploring one of them is taken at random, else the one with the highest Q.

Past the paper, a second look (`representatives` > 1): the best few leaves are sampled again,
more densely, before the maximum is taken. One draw per leaf finds the right leaf but an
average row of it; a second draw where it pays costs some hundred evaluations and finds one
of the best rows. With `representatives` = 1 the algorithm is the paper's to the letter.
"""

from __future__ import annotations

import numpy as np

from tres.agent.ddqn import DoubleDqn
from tres.agent.replay_buffer import Replay
from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Choice, Step
from tres.policies.learner import QLearner
from tres.policies.policy import Pick
from tres.policies.tree_random import TreeRandom
from tres.settings.sections import AgentSection


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
        tree_rng, agent_rng, replay_rng = rng.spawn(3)
        super().__init__(rows, tree, tree_rng)
        self._representatives = representatives
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self.evaluations = 0
        """Rows scored for the last greedy choice."""

    @property
    def agent(self) -> DoubleDqn:
        """Who values links."""
        return self.learner.agent

    @property
    def replay(self) -> Replay:
        """What it remembers."""
        return self.learner.replay

    def pick(self, waiting: Flags | None) -> Pick | None:
        """Algorithm 2, and A~ of the steps that waited for this sample."""
        explores = self.learner.explores(self._rng)
        pick = super().pick(waiting) if explores else self.best(waiting)
        if pick is not None:
            self.learner.picked(pick.row)
        return pick

    def study(self, step: Step) -> NewSplit | None:
        """The experience sample may split its leaf."""
        return self.tree_frontier.learn(step.choice.features, self.learner.reward(step))

    def miss(self, choice: Choice) -> None:
        """A dead link says something of links with its words, and of those beside it."""
        if self.learner.missed(choice):
            self._frontier.update(self.rows.follow(choice.site, choice.url, 0.0))

    def worth(self, rows: Ids) -> Floats:
        """Their Q."""
        return self.learner.values(rows)

    def admit(self, step: Step, change: Change) -> None:
        """Learn from the step."""
        self.learner.admit(step, change)

    def best(self, waiting: Flags | None) -> Pick | None:
        """The representative with the highest Q, left where it is."""
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
