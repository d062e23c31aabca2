"""TRES: the Tree-Frontier offers representatives, the DDQN agent chooses (Algorithm 4).

One decision of `tres`: a representative row is drawn from every leaf and scored with its fresh
vector; the one with the highest Q is chosen, or a random one while exploring.

Past the paper, a second look (`representatives` > 1): the best few leaves are sampled again,
more densely, before the maximum is taken. One draw per leaf finds the right leaf but an
average row of it; a second draw where it pays costs some hundred evaluations and finds one
of the best rows. With `representatives` = 1 the algorithm is the paper's to the letter.

Two rivals have the same features and agent, but another frontier:

- `tres-sync`, the brute force that the Tree-Frontier approximates (section 2.5): every action is
  scored again before every choice, which is the exact argmax of Q over A_t. The difference in
  harvest rate is the price of sampling, the ratio of evaluations is what sampling saves (the paper:
  320 times at 20,000 steps).
- `tres-async` (section 3.2, TRES_Async), the asynchronous method of Han et al.: only the outlinks
  of the page just fetched are scored, with the network as it is at that moment, and put into a
  priority queue. They keep their value there, however much the network has learnt since; only links
  that the page just fetched cites again are scored again, being actions of the current state.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Choice, Step
from tres.policies.policy import PolicyInfo, Selection
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

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Add the experience sample to its leaf, which may split."""
        return self.tree_frontier.learn(step.choice.features, self.learner.reward(step))

    def best(self, waiting: Flags | None) -> Selection:
        """Select the representative with the highest Q."""
        frontier = self.tree_frontier
        rows = frontier.sample(frontier.occupied, 1, waiting)
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


class TresSync(QLearning):
    """DDQN over the whole frontier."""

    info = PolicyInfo(
        summary="the same features and network, but every waiting link is scored at every step: "
        "the greedy choice that the tree approximates, and slow",
        q_values=True,
        snapshot_types=(PendingTransition,),
    )

    def best(self, waiting: Flags | None) -> Selection:
        """Select the best of all rows."""
        rows = self.rows.available(waiting)
        self.evaluations = len(rows)
        return self.best_of(rows, self.learner.values(rows), self.evaluations)


class TresAsync(QLearning):
    """DDQN with values that go stale in a queue."""

    info = PolicyInfo(
        summary="the same, but a link is scored once, when it is found",
        q_values=True,
        snapshot_types=(PendingTransition,),
    )

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        super().__init__(rows, rng, settings)
        self._frontier = self._queue = QueueFrontier(rows, self.learner.values)

    def best(self, waiting: Flags | None) -> Selection | None:
        """Select the head of the queue."""
        best = self._queue.best(waiting)
        return None if best is None else Selection(*best)

    def learn(self, step: Step) -> None:
        """Learn as every policy does, but rows of the page's site keep their values."""
        self.rows.follow(step.site, step.choice.url, step.outlinks.relevance)
        change = self.rows.add_links(step.outlinks)
        self._queue.insert(change.new)
        self._queue.update(change.updated)
        self.evaluations = len(change.outlinks)
        self.learn_outlinks(step, change)

    def miss(self, choice: Choice) -> None:
        """Learn from a dead link; others keep their values in the queue."""
        if self.learner.learn_dead_link(choice):
            self.rows.follow(choice.site, choice.url, 0.0)

    def values_of(self, rows: Ids) -> Floats:
        """Return the values of rows in the queue."""
        return self._queue.priorities(rows)
