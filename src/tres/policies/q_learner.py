"""The learner of TRES: DDQN, replay and exploration, over any frontier.

`tres` looks at the representatives of the tree's leaves, `tres-sync` at the whole frontier,
`tres-async` at a queue of values that grow old. What is learnt and when is the same for all
three, so that a comparison of them compares frontiers and nothing else.

Under a cap the places of a site are a resource. Where more links of a site wait than it may still
give pages, taking one means giving up another, perhaps a better one that is not known yet; so
a value is lowered by the share of the places already used (`scarcity`). Without this, crawls spend
a hub's few places on the first links they meet.

A dead link is an experience too, where requests cost something: it earned nothing and nothing
followed. It counts as `dead_links` of a page: at a quarter, one in four of them is learnt from.
Counted in full they would outnumber everything else there is to learn.

A transition is complete only when the next action is known: A~ of the paper holds the outlinks
of the page just fetched and the action sampled next. Until then it is pending.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np

from tres.agent.ddqn import Batch, DoubleDqn
from tres.agent.replay_buffer import Replay
from tres.frontier.rows import Change, Rows
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.transitions import NO_IDS, Choice, Step
from tres.policies.policy import FrontierPolicy, Selection, UnorderedFrontier
from tres.policies.setup import PolicySetup
from tres.settings.sections import AgentSection

MIN_TRANSITIONS = 8
"""Transitions with which training begins: a crawl has no time to wait for a full minibatch."""


class PendingTransition(NamedTuple):
    """A transition whose next action is not known yet."""

    vector: Floats
    reward: float
    outlinks: Ids


class QLearner:
    """Estimates Q, and learns from every step."""

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
        self._pending: list[PendingTransition] = []
        self._steps = 0
        self._dead_links = 0.0

    def values(self, rows: Ids) -> Floats:
        """Return Q of rows by their fresh vectors; a guess until the agent has learnt enough."""
        vectors = self._rows.vectors(rows)
        if self._steps < self._settings.warmup + self._settings.guided:
            values = np.asarray(vectors[:, self._guesses].mean(axis=1))
        else:
            values = self.agent.values(vectors)
        price = np.float32(self._settings.scarcity) * self._rows.scarcity(rows)
        return np.asarray(values - price, np.float32)

    def explores(self, rng: np.random.Generator) -> bool:
        """Whether the next choice is random: always during the warm-up, later with epsilon."""
        if self._steps < self._settings.warmup:  # steps: dead links do not shorten it
            return True
        if self._settings.epsilon == 0:
            return False
        return bool(rng.random() < self._settings.epsilon)

    def reward(self, step: Step) -> float:
        """Return the reward for the tree: part of it may be reserved for new sites."""
        return step.experience * self._share(step)

    def soft_reward(self, step: Step) -> float:
        """Return the reward for the agent: by probability if `soft`, else that of the tree."""
        if step.choice.is_seed or not self._settings.soft:
            return self.reward(step)
        return step.outlinks.relevance * self._share(step)

    def _share(self, step: Step) -> float:
        new = step.choice.is_seed or self._rows.opened(step.site)
        return 1.0 if new else 1.0 - self._settings.new_sites

    def complete(self, row: int) -> None:
        """Complete the pending transitions: this row is the next action."""
        for pending in self._pending:
            actions = np.append(pending.outlinks, np.int32(row))
            self.replay.add(pending.vector, pending.reward, actions)
        self._pending.clear()

    def learn_dead_link(self, choice: Choice) -> bool:
        """Count a dead link; return whether to learn from it."""
        self._dead_links += 0.0 if choice.is_seed else self._settings.dead_links
        if self._dead_links < 1.0:
            return False
        self._dead_links -= 1.0
        self.replay.add(choice.features, 0.0, NO_IDS)
        return True

    def learn(self, step: Step, change: Change) -> None:
        """Add a pending transition, and train on a minibatch of the earlier ones."""
        self._steps += 1
        self._pending.append(
            PendingTransition(step.choice.features, self.soft_reward(step), change.outlinks)
        )
        if len(self.replay) >= MIN_TRANSITIONS:
            for _ in range(self._settings.updates):
                self._train()

    def _train(self) -> None:
        sampled = self.replay.sample(self._settings.batch, self._replay_rng)
        vectors = self._rows.vectors(sampled.actions)
        self.agent.learn(Batch(sampled.vectors, sampled.rewards, vectors, sampled.bounds))


class QLearning(FrontierPolicy):
    """A policy whose values are those of a `QLearner`."""

    def __init__(self, rows: Rows, rng: np.random.Generator, settings: AgentSection) -> None:
        self._rng, agent_rng, replay_rng = rng.spawn(3)
        self.learner = QLearner(rows, settings, agent_rng, replay_rng)
        self.evaluations = 0
        """Rows scored for the last choice."""
        super().__init__(rows, UnorderedFrontier())

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        return cls(setup.rows(), setup.rng, setup.settings.agent)

    @abstractmethod
    def best(self, waiting: Flags | None) -> Selection | None:
        """Select the row with the highest Q."""

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select a row (Algorithm 2), which completes A~ of the pending transitions."""
        explores = self.learner.explores(self._rng)
        selected = self.explore(waiting, self._rng) if explores else self.best(waiting)
        if selected is not None:
            self.learner.complete(selected.row)
        return selected

    def values_of(self, rows: Ids) -> Floats:
        """Return Q of rows."""
        return self.learner.values(rows)

    def learn_outlinks(self, step: Step, change: Change) -> None:
        """Learn from the step."""
        self.learner.learn(step, change)

    def miss(self, choice: Choice) -> None:
        """Learn from a dead link: links with its words, or beside it, are worth less."""
        if self.learner.learn_dead_link(choice):
            self._frontier.update(self.rows.follow(choice.site, choice.url, 0.0))
