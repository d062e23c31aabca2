"""A crawl as a Gymnasium environment, for agents of other libraries.

    env = CrawlEnv.of(load_topic("biology.toml"), open_web("encyclopedia.jsonl.gz"))
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(0)

Every observation is a matrix: one row per action on offer, one column per feature of the schema
(`env.schema.features`). An action is the number of a row; its page is fetched, and the reward is 1
if it is relevant. An episode is a crawl from the topic's seeds. It is truncated when the budget is
spent, and terminated only when nothing is left to fetch; so agents bootstrap at the end of a budget
as they should. A link that turns out dead earns nothing and costs no page.

An environment can be pickled and copied at any moment, so that vector environments can send it to
other processes; the copy goes on as the original would.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tres.crawl.events import Event, Fetch, FetchFailed, Stepped
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.frontier.decision_tree import Tree
from tres.mdp.columns import Ids
from tres.mdp.feature_schema import SCHEMAS, Schema
from tres.mdp.state import CrawlState
from tres.offline.web import Web
from tres.policies.registry import feature_set
from tres.policies.setup import make_rows
from tres.policies.tree_random import ExternalAgent
from tres.relevance.custom_model import Judge, as_model
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import perceive_seeds
from tres.settings.topic_file import TopicConfig

OFFERED = 32
HIGHEST = 32.0
"""Bound of all features: shares and probabilities are at most 1, logarithms of counts far below."""

Observation = NDArray[np.float32]


class CrawlEnv(gymnasium.Env[Observation, np.int64]):
    """Crawls of one topic on one web."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's name for it

    def __init__(self, config: TopicConfig, seen: PerceivedWeb, offered: int = OFFERED) -> None:
        self._config = config.override(policy="tres")  # the agent reads the features of links
        self._seen = seen
        self._offered = offered
        self._session: CrawlSession | None = None
        self._ended = True
        self._rows: Ids = np.empty(0, np.int32)
        shape = (offered, self.schema.width)
        self.observation_space = spaces.Box(0.0, HIGHEST, shape, np.float32)
        self.action_space = spaces.Discrete(offered)

    @classmethod
    def of(
        cls, config: TopicConfig, web: Web, offered: int = OFFERED, judge: Judge | None = None
    ) -> CrawlEnv:
        """Return the environment of a topic on an archive or a generated web.

        `judge` decides what is relevant; without it a model is trained.
        """
        model = None if judge is None else as_model(judge)
        return cls(config, PerceivedWeb(web, perceive_topic(config, web, model)), offered)

    @property
    def schema(self) -> Schema:
        """Names and order of the columns of an observation."""
        return SCHEMAS[feature_set(self._config.crawl)]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a crawl; its seeds are fetched before the first choice."""
        super().reset(seed=seed)
        rng = np.random.default_rng(int(self.np_random.integers(2**32)))
        crawl = CrawlState()
        rows = make_rows(self.schema.name, crawl.sites)
        tree = self._config.tree
        policy = ExternalAgent(rows, Tree(rows.schema.width, tree.min_split, tree.max_depth), rng)
        seeds = perceive_seeds(self._config, self._seen.perceiver)
        settings = self._config.crawl
        session = CrawlSession(crawl, policy, seeds, settings.pages, settings.max_per_site)
        self._policy, self._session = policy, session
        while session.seeds_left and self._fetch_next(session) is not None:
            pass
        observation = self._observe()
        self._ended = len(self._rows) == 0 or session.steps >= session.pages
        return observation, self._info()

    def step(
        self, action: np.int64
    ) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Fetch the page of an offered row."""
        if self._session is None or self._ended:
            raise gymnasium.error.ResetNeeded("the crawl has ended or not begun; call reset()")
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(
                f"{action!r} is not a row on offer; choose from 0 to {self._offered - 1}"
            )
        self._policy.choose_next(int(self._rows[int(action)]))
        fetched = self._fetch_next(self._session)
        assert fetched is not None  # the row waits, and the budget is not spent
        url, events = fetched
        reward = sum(float(e.relevant) for e in events if isinstance(e, Stepped))
        failed = [str(e.kind) for e in events if isinstance(e, FetchFailed)]
        observation = self._observe()
        truncated = self._session.steps >= self._session.pages
        terminated = len(self._rows) == 0 and not truncated
        self._ended = truncated or terminated
        info = self._info() | {"url": url} | ({"failed": failed[0]} if failed else {})
        return observation, reward, terminated, truncated, info

    def _fetch_next(self, session: CrawlSession) -> tuple[str, list[Event]] | None:
        """Fetch one page; return its URL and the events, or None if there is nothing to fetch."""
        demand = session.next()
        if not isinstance(demand, Fetch):
            return None
        url = demand.urls[0]
        return url, session.receive(url, self._seen.perceive(url))

    def _observe(self) -> Observation:
        self._rows = self._policy.offer(self._offered)
        if len(self._rows) == 0:
            return np.zeros((self._offered, self.schema.width), np.float32)
        return self._policy.rows.vectors(self._rows)

    def _info(self) -> dict[str, Any]:
        assert self._session is not None
        return {
            "pages": self._session.steps,
            "harvest_rate": self._session.harvest_rate,
            "relevant_sites": self._session.relevant_sites,
            "waiting": len(self._policy),
        }
