"""`tres-async`: TRES's features and DDQN on an asynchronous queue (section 3.2, TRES_Async).

The asynchronous method of Han et al. scores only the outlinks of the page just fetched, with
the network as it is at that moment, and puts them into a priority queue. Links keep their value
there, however much the network has learnt since; only links that the page just fetched cites again
are scored again, because they are actions of the current state.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Rows
from tres.frontier.unordered_frontier import available_rows, random_row
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Choice, Step
from tres.policies.policy import Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.q_learner import PendingTransition, QLearner, QLearning
from tres.policies.setup import PolicySetup
from tres.settings.sections import AgentSection


class TresAsync(QLearning):
    """DDQN with values that grow old in a queue."""

    info = PolicyInfo(
        summary="the same, but a link is scored once, when it is found",
        q_values=True,
        snapshot_types=(PendingTransition,),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        return cls(setup.rows(), setup.rng, setup.settings.agent)

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        self._rng, agent_rng, replay_rng = rng.spawn(3)
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self._queue = QueueFrontier(rows, self.learner.values)
        super().__init__(rows, self._queue)
        self.evaluations = 0

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the head of the queue, or a random row while exploring."""
        best = self._queue.best(waiting)
        if best is None:
            return None
        selected = Selection(best[0], q=best[1])
        if self.learner.explores(self._rng):
            row = random_row(available_rows(self.rows, waiting), self._rng)
            selected = Selection(row, explored=True)
        self.learner.complete(selected.row)
        return selected

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
        """Return their values in the queue."""
        return self._queue.priorities(rows)
