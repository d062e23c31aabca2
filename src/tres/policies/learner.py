"""The learner of TRES: DDQN, replay and exploration, whatever frontier it looks at.

`tres` looks at the representatives of the tree's leaves, `tres-sync` at the whole frontier,
`tres-async` at a queue of values that grow old. What is learnt and when is the same for all
three, so that a comparison of them compares frontiers and nothing else.

Under a cap the places of a site are a resource. Where more links of a site wait than it may still
give pages, to take one is to forgo another, perhaps a better one that is not known yet; so
a value is lowered by the share of the places that is gone (`scarcity`). Without it crawls spend
a hub's few places on whatever they met first.

A link that gave no page is an experience too, where such links cost something: its value was
nothing, and nothing followed. It counts as `dead_links` of a page, so of four of them one is learnt
from at a quarter. Counted in full they would outnumber everything else that there is to learn.

A transition is complete only when the next action is known: A~ of the paper holds the outlinks
of the page just fetched and the action sampled next. Until then it is staged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tres.agent.ddqn import Batch, DoubleDqn
from tres.agent.replay_buffer import Replay
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Floats, Ids
from tres.mdp.transitions import NO_IDS, Choice, Step
from tres.settings.sections import AgentSection

ENOUGH = 8
"""Transitions with which training begins: a crawl has no time to wait for a full minibatch."""


class PendingTransition(NamedTuple):
    """A transition whose next state's sample is not drawn yet."""

    vector: Floats
    reward: float
    outlinks: Ids


class QLearner:
    """Values rows, and learns from every step."""

    def __init__(
        self,
        rows: Rows,
        settings: AgentSection,
        agent_rng: np.random.Generator,
        replay_rng: np.random.Generator,
    ) -> None:
        self._rows = rows
        self._settings = settings
        self._replay_rng = replay_rng
        self.agent = DoubleDqn(rows.schema.width, settings, agent_rng)
        self.replay = Replay(settings.replay, rows.schema.width)
        self._guesses = [rows.schema.column(name) for name in rows.schema.guesses]
        self._staged: list[PendingTransition] = []
        self._steps = 0
        self._unlearnt = 0.0

    def values(self, rows: Ids) -> Floats:
        """Q of rows, by their fresh vectors; a guess as long as the agent knows too little."""
        vectors = self._rows.vectors(rows)
        if self._steps < self._settings.warmup + self._settings.guided:
            values = np.asarray(vectors[:, self._guesses].mean(axis=1))
        else:
            values = self.agent.values(vectors)
        price = np.float32(self._settings.scarcity) * self._rows.scarcity(rows)
        return np.asarray(values - price, np.float32)

    def explores(self, rng: np.random.Generator) -> bool:
        """Is the next choice one at random? Always during the warm-up, later now and then."""
        if self._steps < self._settings.warmup:  # steps, so dead links do not shorten it
            return True
        if self._settings.epsilon == 0:
            return False
        return bool(rng.random() < self._settings.epsilon)

    def reward(self, step: Step) -> float:
        """The reward for the tree: a share of it may be for new sites only."""
        return step.experience * self._share(step)

    def soft_reward(self, step: Step) -> float:
        """The reward for the agent: how sure the model is says more than its yes or no."""
        if step.choice.is_seed or not self._settings.soft:
            return self.reward(step)
        return step.outlinks.relevance * self._share(step)

    def _share(self, step: Step) -> float:
        new = step.choice.is_seed or self._rows.opened(step.site)
        return 1.0 if new else 1.0 - self._settings.new_sites

    def picked(self, row: int) -> None:
        """The action sampled next: it completes the transitions that waited for it."""
        for staged in self._staged:
            actions = np.append(staged.outlinks, np.int32(row))
            self.replay.add(staged.vector, staged.reward, actions)
        self._staged.clear()

    def missed(self, choice: Choice) -> bool:
        """A choice gave no page; is it one to learn from? Then it is remembered."""
        self._unlearnt += 0.0 if choice.is_seed else self._settings.dead_links
        if self._unlearnt < 1.0:
            return False
        self._unlearnt -= 1.0
        self.replay.add(choice.features, 0.0, NO_IDS)
        return True

    def admit(self, step: Step, change: Change) -> None:
        """Stage the transition, and train on a minibatch of the earlier ones."""
        self._steps += 1
        self._staged.append(
            PendingTransition(step.choice.features, self.soft_reward(step), change.outlinks)
        )
        if len(self.replay) >= ENOUGH:
            for _ in range(self._settings.updates):
                self._train()

    def _train(self) -> None:
        sampled = self.replay.sample(self._settings.batch, self._replay_rng)
        vectors = self._rows.vectors(sampled.actions)
        self.agent.learn(Batch(sampled.vectors, sampled.rewards, vectors, sampled.bounds))
