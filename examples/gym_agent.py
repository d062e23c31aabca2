"""An agent from another library learns to crawl: Stable-Baselines3's DQN on `tres.env.CrawlEnv`.

An observation is a table: one row for each offered link, one column for each feature. A link is
worth the same in any row, so one small network values every row, and DQN chooses the row with the
highest value. (The usual network over the whole table would have to learn this for every row.)

The agent is trained on one web and tried, without further learning, on another web with another
topic. It is compared with a random choice among the offered links, with a random choice among all
links, and with tres, which learns while it crawls. The offered links come from the tree that tres
grows, so even a random choice among them is a good one.

    pip install 'tres-crawler[agents]'
    python examples/gym_agent.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import nn, set_num_threads

import tres
from tres.env import CrawlEnv

Observation = NDArray[np.float32]
Choose = Callable[[Observation], int]

STEPS = 1500
PAGES = 100
OFFERED = 16


class LinkValues(QNetwork):
    """One network for every row: features of a link in, its value out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert self.observation_space.shape is not None
        links, features = self.observation_space.shape
        self.q_net = nn.Sequential(
            nn.Unflatten(1, (links, features)),
            nn.Linear(features, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
            nn.Flatten(),
        )


class LinkPolicy(DQNPolicy):
    """DQN with `LinkValues` as its network."""

    def make_q_net(self) -> QNetwork:
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return LinkValues(**arguments).to(self.device)


def trained(env: CrawlEnv, steps: int, seed: int) -> DQN:
    """Return an agent that has fetched `steps` pages, crawl after crawl."""
    agent = DQN(
        LinkPolicy,
        env,
        gamma=0.3,  # what a link leads to matters, but not much
        learning_rate=2e-3,
        buffer_size=20_000,
        learning_starts=100,
        train_freq=4,
        target_update_interval=200,
        exploration_fraction=0.5,
        seed=seed,
        device="cpu",
    )
    return agent.learn(steps)


def greedy(agent: DQN) -> Choose:
    """Choose as a trained agent does."""
    return lambda observation: int(agent.predict(observation, deterministic=True)[0])


def blind(seed: int) -> Choose:
    """Choose any of the offered links."""
    rng = np.random.default_rng(seed)
    return lambda observation: int(rng.integers(len(observation)))


def harvest_rate(env: CrawlEnv, choose: Choose, seed: int) -> float:
    """Return the harvest rate of one crawl."""
    observation, info = env.reset(seed=seed)
    ended = False
    while not ended:
        observation, _, terminated, truncated, info = env.step(np.int64(choose(observation)))
        ended = terminated or truncated
    return float(info["harvest_rate"])


def task(name: str, seed: int) -> tuple[tres.TopicConfig, tres.GeneratedWeb]:
    """Return a topic and its web."""
    web = tres.GeneratedWeb(pages=2000, seed=seed)
    topic = tres.new_topic(
        web.topics[name],
        web.seeds(name, 3),
        labels=[name],
        relevant=50,
        irrelevant=200,
        pages=PAGES,
    )
    return topic, web


def main(directory: Path, steps: int = STEPS, seed: int = 1, tries: int = 3) -> dict[str, float]:
    set_num_threads(1)  # the network is small: threads would only wait for each other
    print(f"training: {steps:,} pages about astronomy on one web ...")
    agent = trained(CrawlEnv.of(*task("astronomy", 100 + seed), OFFERED), steps, seed)

    topic, web = task("sailing", 200 + seed)
    learns = tres.run_crawl(topic, web, run=directory / "tres")
    judge = learns.judge()
    by_chance = tres.run_crawl(topic, web, run=directory / "random", policy="random", judge=judge)
    env = CrawlEnv.of(topic, web, OFFERED, judge)
    rates = {
        "random, of all links": by_chance.harvest_rate,
        "random, of the offered links": mean(harvest_rate(env, blind(s), s) for s in range(tries)),
        "the trained agent": mean(harvest_rate(env, greedy(agent), s) for s in range(tries)),
        "tres, learning as it goes": learns.harvest_rate,
    }
    print(f"harvest rate of {PAGES} pages about sailing on another web:")
    for name, rate in rates.items():
        print(f"  {name:28} {rate:.2f}  {'#' * round(40 * rate)}")
    return rates


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
