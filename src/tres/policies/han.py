"""`han-async` and `han-sync`: the crawlers of Han, Wuillemin and Senellart (2018).

Linear SARSA over binned statistics of relevance along the web path (`tres.frontier.path_rows`),
epsilon-greedy. *Synchronous*: the whole frontier is scored before every choice.
*Asynchronous*: a link is scored once, when it is found, and then waits in a priority queue with
that value; the paper compares TRES with this one.

Departures: the relevance of a page and the predicted relevance of a link are those of the topic's
model, as for all policies, where Han et al. take a cosine similarity; the reward is the same 0 or 1
that every policy here gets.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tres.agent.sarsa import LinearSarsa, Places
from tres.frontier.path_rows import BINS, PathRows, one_hot
from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.unordered_frontier import UnorderedFrontier, available_rows, random_row
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.setup import PolicySetup

EPSILON = 0.1


class PendingStep(NamedTuple):
    """A step whose next action is not known yet."""

    places: Places
    reward: float


class HanSync(FrontierPolicy):
    """Scores the whole frontier before every choice."""

    info = PolicyInfo(
        summary="the linear Q-learner of Han, Wuillemin and Senellart (2018), scoring all links",
        reads_features=False,
        snapshot_types=(PendingStep,),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        return cls(PathRows(setup.crawl.sites, setup.crawl.paths), setup.rng)

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        super().__init__(rows, UnorderedFrontier(rows))
        self._begin(rng)

    def _begin(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.sarsa = LinearSarsa(BINS * self.schema.width)
        self._pending: list[PendingStep] = []
        self.evaluations = 0
        """Rows scored for the last choice."""

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select a row, epsilon-greedy; it is the next action of the steps before it."""
        best = self._best(waiting)
        if best is None:
            return None
        if self._rng.random() < EPSILON:
            row = random_row(available_rows(self.rows, waiting), self._rng)
            best = Selection(row, explored=True)
        self._complete(best.row)
        return best

    def learn_reward(self, step: Step) -> None:
        """Remember the reward until the next action is known."""
        features = one_hot(step.choice.features[None])[0]
        self._pending.append(PendingStep(features, step.experience))

    def _complete(self, row: int) -> None:
        """Learn from the pending steps: this row is the next action."""
        following = one_hot(self.rows.vectors(np.array([row], np.int32)))[0]
        for places, reward in self._pending:
            self.sarsa.learn(places, reward, following)
        self._pending.clear()

    def _best(self, waiting: Flags | None) -> Selection | None:
        rows = available_rows(self.rows, waiting)
        if len(rows) == 0:
            return None
        values = self._values(rows)
        self.evaluations = len(rows)
        best = int(np.argmax(values))
        return Selection(int(rows[best]), q=float(values[best]))

    def values_of(self, rows: Ids) -> Floats:
        """Return Q of rows as SARSA estimates it."""
        return self._values(rows)

    def _values(self, rows: Ids) -> Floats:
        return self.sarsa.values(one_hot(self.rows.vectors(rows)))


class HanAsync(HanSync):
    """Scores only the links of the page just fetched."""

    info = PolicyInfo(
        summary="the linear Q-learner of Han, Wuillemin and Senellart (2018), scoring new links "
        "only",
        reads_features=False,
        snapshot_types=(PendingStep,),
    )

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        self._queue = QueueFrontier(rows, self._values)
        FrontierPolicy.__init__(self, rows, self._queue)
        self._begin(rng)

    def _best(self, waiting: Flags | None) -> Selection | None:
        best = self._queue.best(waiting)
        return None if best is None else Selection(best[0], q=best[1])

    def values_of(self, rows: Ids) -> Floats:
        """Return their values in the queue."""
        return self._queue.priorities(rows)
