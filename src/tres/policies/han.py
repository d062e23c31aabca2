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

from dataclasses import replace
from typing import Self

import numpy as np

from tres.agent.sarsa import LinearSarsa, Places
from tres.frontier.path_rows import BINS, PathRows, one_hot
from tres.frontier.queue_frontier import QueueFrontier
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Step
from tres.policies.policy import FrontierPolicy, PolicyInfo, Selection, UnorderedFrontier
from tres.policies.setup import PolicySetup

EPSILON = 0.1


class HanSync(FrontierPolicy):
    """Scores the whole frontier before every choice."""

    info = PolicyInfo(
        summary="the linear Q-learner of Han, Wuillemin and Senellart (2018), scoring all links",
        reads_features=False,
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        return cls(PathRows(setup.crawl.sites, setup.crawl.paths), setup.rng)

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        super().__init__(rows, UnorderedFrontier())
        self._rng = rng
        self.sarsa = LinearSarsa(BINS * self.schema.width)
        self._pending: list[tuple[Places, float]] = []
        """Steps whose next action is not known yet: features and reward."""
        self.evaluations = 0
        """Rows scored for the last choice."""

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select a row, epsilon-greedy; it completes the earlier steps as their next action."""
        selected = self._best(waiting)
        if selected is None:
            return None
        if self._rng.random() < EPSILON:
            selected = self.explore(waiting, self._rng)
        self._complete(selected.row)
        return selected

    def learn_reward(self, step: Step) -> None:
        """Remember the reward until the next action is known."""
        self._pending.append((one_hot(step.choice.features[None])[0], step.experience))

    def _complete(self, row: int) -> None:
        """Learn from the pending steps: this row is the next action."""
        following = one_hot(self.rows.vectors(np.array([row], np.int32)))[0]
        for places, reward in self._pending:
            self.sarsa.learn(places, reward, following)
        self._pending.clear()

    def _best(self, waiting: Flags | None) -> Selection | None:
        rows = self.rows.available(waiting)
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

    info = replace(
        HanSync.info,
        summary="the linear Q-learner of Han, Wuillemin and Senellart (2018), scoring new links "
        "only",
    )

    def __init__(self, rows: PathRows, rng: np.random.Generator) -> None:
        super().__init__(rows, rng)
        self._frontier = self._queue = QueueFrontier(rows, self._values)

    def _best(self, waiting: Flags | None) -> Selection | None:
        best = self._queue.best(waiting)
        return None if best is None else Selection(*best)

    def values_of(self, rows: Ids) -> Floats:
        """Return the values of rows in the queue."""
        return self._queue.priorities(rows)
