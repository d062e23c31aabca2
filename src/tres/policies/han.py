"""`han-async` and `han-sync`: the crawlers of Han, Wuillemin and Senellart (2018).

Linear SARSA over binned statistics of relevance along the web path (`tres.frontier.path_rows`),
epsilon-greedy. *Synchronous*: the whole frontier is valued anew before every choice.
*Asynchronous*: a link is valued once, when it is found, and then waits in a priority queue with
that value; the paper compares TRES with this one.

Departures: the relevance of a page and the predicted relevance of a link are those of the topic's
model, for all policies alike, where Han et al. take a cosine similarity; the reward is the same
0 or 1 that every policy here is given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tres.agent.sarsa import LinearSarsa, Places
from tres.frontier.path_rows import BINS, PathRows, one_hot
from tres.frontier.queue_frontier import QueueFrontier
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, Pick
from tres.policies.unordered import UnorderedFrontier, drawn, ready

EPSILON = 0.1


class Taken(NamedTuple):
    """A step whose next action is not known yet."""

    places: Places
    reward: float


class HanSync(FrontierPolicy):
    """The whole frontier, valued anew."""

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        super().__init__(rows, UnorderedFrontier(rows))
        self._begin(rng)

    def _begin(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.sarsa = LinearSarsa(BINS * self.schema.width)
        self._taken: list[Taken] = []
        self.evaluations = 0
        """Rows scored for the last choice."""

    def pick(self, waiting: Flags | None) -> Pick | None:
        """Epsilon-greedy; the choice is the next action of the steps before it."""
        best = self._best(waiting)
        if best is None:
            return None
        if self._rng.random() < EPSILON:
            best = Pick(drawn(ready(self.rows, waiting), self._rng), explored=True)
        self._follow(best.row)
        return best

    def study(self, step: Step) -> None:
        """Remember what the choice has earned until it is known what follows."""
        self._taken.append(Taken(one_hot(step.choice.features[None])[0], step.experience))

    def _follow(self, row: int) -> None:
        following = one_hot(self.rows.vectors(np.array([row], np.int32)))[0]
        for places, reward in self._taken:
            self.sarsa.learn(places, reward, following)
        self._taken.clear()

    def _best(self, waiting: Flags | None) -> Pick | None:
        rows = ready(self.rows, waiting)
        if len(rows) == 0:
            return None
        values = self._values(rows)
        self.evaluations = len(rows)
        best = int(np.argmax(values))
        return Pick(int(rows[best]), q=float(values[best]))

    def worth(self, rows: Ids) -> Floats:
        """What SARSA expects of them."""
        return self._values(rows)

    def _values(self, rows: Ids) -> Floats:
        return self.sarsa.values(one_hot(self.rows.vectors(rows)))


class HanAsync(HanSync):
    """Only the links of the page just fetched are valued; the rest waits as it is."""

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        self._queue = QueueFrontier(rows, self._values)
        FrontierPolicy.__init__(self, rows, self._queue)
        self._begin(rng)

    def _best(self, waiting: Flags | None) -> Pick | None:
        best = self._queue.best(waiting)
        return None if best is None else Pick(best[0], q=best[1])

    def worth(self, rows: Ids) -> Floats:
        """The values that they have in the queue."""
        return self._queue.priorities(rows)
