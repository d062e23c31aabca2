"""`tres-async`: TRES's features and DDQN on an asynchronous queue (section 3.2, TRES_Async).

The asynchronous method of Han et al. scores only the outlinks of the page just fetched, with
the network as it is at that moment, and puts them into a priority queue. What waits there keeps
the value it was given, however much the network has learnt since; only links that the page just
fetched cites again are valued anew, because they are actions of the current state.
"""

from __future__ import annotations

import numpy as np

from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Choice, Step
from tres.policies.learner import QLearner
from tres.policies.policy import FrontierPolicy, Pick
from tres.policies.unordered import drawn, ready
from tres.settings.sections import AgentSection


class TresAsync(FrontierPolicy):
    """DDQN with values that grow old in a queue."""

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        self._rng, agent_rng, replay_rng = rng.spawn(3)
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self._queue = QueueFrontier(rows, self.learner.values)
        super().__init__(rows, self._queue)
        self.evaluations = 0
        """Rows scored since the choice before the last."""

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The head of the queue, or a row at random while exploring."""
        best = self._queue.best(waiting)
        if best is None:
            return None
        pick = Pick(best[0], q=best[1])
        if self.learner.explores(self._rng):
            pick = Pick(drawn(ready(self.rows, waiting), self._rng), explored=True)
        self.learner.picked(pick.row)
        return pick

    def learn(self, step: Step) -> None:
        """As every policy, but rows of the page's site keep the value they have."""
        self.rows.follow(step.site, step.choice.url, step.outlinks.relevance)
        change = self.rows.take_in(step.outlinks)
        self._queue.insert(change.new)
        self._queue.update(change.updated)
        self.evaluations = len(change.outlinks)
        self.admit(step, change)

    def miss(self, choice: Choice) -> None:
        """A dead link says something of others, but they keep the value they have."""
        if self.learner.missed(choice):
            self.rows.follow(choice.site, choice.url, 0.0)

    def worth(self, rows: Ids) -> Floats:
        """The values that they have in the queue."""
        return self._queue.priorities(rows)

    def admit(self, step: Step, change: Change) -> None:
        """Learn from the step."""
        self.learner.admit(step, change)
