"""An agent of another library learns to crawl: DQN of Stable-Baselines3 on `tres.env.CrawlEnv`.

An observation is a table: a row for each link on offer, a column for each thing that is known of
it. Whatever row a link stands in, it is worth the same; so one small network values every row, and
DQN chooses the row of highest value. (The usual network over the whole table at once would have
to learn the same thing for every row anew.)

The agent is trained on one web and tried, without learning any more, on another one and for
another topic. It is compared with a choice at random among the same links on offer, with random
choice among all links, and with tres, which starts from nothing and learns while it crawls. The
links on offer come from the tree that tres grows, so even a random choice among them is a good one.

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
    """DQN with that network."""

    def make_q_net(self) -> QNetwork:
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return LinkValues(**arguments).to(self.device)


def trained(env: CrawlEnv, steps: int, seed: int) -> DQN:
    """An agent that has fetched so many pages, crawl after crawl."""
    agent = DQN(
        LinkPolicy,
        env,
        gamma=0.3,  # what a link leads to matters, but not for long
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
    """The choice of a trained agent."""
    return lambda observation: int(agent.predict(observation, deterministic=True)[0])


def blind(seed: int) -> Choose:
    """Any of the links on offer."""
    rng = np.random.default_rng(seed)
    return lambda observation: int(rng.integers(len(observation)))


def harvest_rate(env: CrawlEnv, choose: Choose, seed: int) -> float:
    """Relevant pages / pages of one crawl."""
    observation, info = env.reset(seed=seed)
    ended = False
    while not ended:
        observation, _, terminated, truncated, info = env.step(np.int64(choose(observation)))
        ended = terminated or truncated
    return float(info["harvest_rate"])


def task(name: str, seed: int) -> tuple[tres.TopicConfig, tres.GeneratedWeb]:
    """A topic on a web."""
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
        "random, of those on offer": mean(harvest_rate(env, blind(s), s) for s in range(tries)),
        "the trained agent": mean(harvest_rate(env, greedy(agent), s) for s in range(tries)),
        "tres, learning as it goes": learns.harvest_rate,
    }
    print(f"harvest rate of {PAGES} pages about sailing on another web:")
    for name, rate in rates.items():
        print(f"  {name:26} {rate:.2f}  {'#' * round(40 * rate)}")
    return rates


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
