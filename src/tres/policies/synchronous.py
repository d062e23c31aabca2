"""`tres-sync`: the brute force that the Tree-Frontier approximates (section 2.5).

Every action of the frontier is scored again before every choice, so the choice is the exact
argmax of Q over A_t. It is what `tres` would do if evaluations cost nothing: the difference
between the two in harvest rate is the price of sampling, the ratio of their evaluations is
what sampling saves (the paper: 320 times at 20,000 steps).
"""

from __future__ import annotations

import numpy as np

from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import Choice, Step
from tres.policies.learner import QLearner
from tres.policies.policy import FrontierPolicy, Pick
from tres.policies.unordered import UnorderedFrontier, drawn, ready
from tres.settings.sections import AgentSection


class TresSync(FrontierPolicy):
    """DDQN over the whole frontier."""

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        self._rng, agent_rng, replay_rng = rng.spawn(3)
        super().__init__(rows, UnorderedFrontier(rows))
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self.evaluations = 0
        """Rows scored for the last greedy choice."""

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The best of all, or one at random while exploring."""
        rows = ready(self.rows, waiting)
        if len(rows) == 0:
            return None
        if self.learner.explores(self._rng):
            pick = Pick(drawn(rows, self._rng), explored=True)
        else:
            self.evaluations = len(rows)
            pick = self.best_of(rows, self.learner.values(rows), self.evaluations)
        self.learner.picked(pick.row)
        return pick

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
