"""What one decision costs: TRES compared with the synchronous method, on the same frontier.

A decision step is everything the learner does for one page: draw representatives, refresh
their site features, score them, choose, train on a minibatch, add the experience to its leaf,
split the leaf if that helps, and insert 40 new links. The synchronous method (section 2.5 of the
paper) does the same, but scores every row of the frontier instead of representatives.

    python benchmarks/decision.py [--features paper] [--steps 20000]

The web is synthetic: links are random, and rewards depend on them with so much noise that about
every eighth step splits a leaf. It measures time and memory and says nothing about
quality. Figures depend on the machine; read the ratios.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from tres.mdp.paths import PathFeatures
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Outlinks, Step
from tres.policies.registry import make_policy
from tres.policies.setup import PolicySettings
from tres.policies.tres import Tres
from tres.settings.sections import FEATURES, FeatureSet
from tres.web.link_wording import CODES, WIDTH

LINKS = 40
SITES = 5_000
NOISE = 0.08
CHECKPOINTS = (1_000, 5_000, 20_000)
LAST = 500  # steps before a checkpoint over which time is averaged


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Measurements after a number of steps."""

    steps: int
    rows: int
    leaves: int
    step_ms: float
    synchronous_ms: float
    evaluations: int
    bytes_per_row: float


class SyntheticWeb:
    """Endless pages with random links; a link's features say something about its page."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._urls = 0
        self._quality = rng.beta(0.5, 3.0, SITES)
        self._weights = 1.0 / np.arange(1, SITES + 1) ** 0.8
        self._cumulated = np.cumsum(self._weights) / self._weights.sum()

    def page(self, relevant: bool) -> Outlinks:
        """The links of the next page."""
        rng = self._rng
        sites = np.searchsorted(self._cumulated, rng.random(LINKS)).astype(np.int32)
        urls = np.arange(self._urls, self._urls + LINKS, dtype=np.int32)
        self._urls += LINKS
        return Outlinks(
            page=int(urls[0]),
            relevance=float(np.clip(rng.normal(0.8 if relevant else 0.2, 0.15), 0, 1)),
            relevant=relevant,
            path=PathFeatures(float(relevant), 1.0 / rng.integers(1, 6), float(rng.random())),
            urls=urls,
            sites=sites,
            same_site=rng.random(LINKS) < 0.5,
            url_keyword=rng.random(LINKS) < 0.2,
            anchor_keyword=rng.random(LINKS) < 0.2,
            anchor_relevance=rng.beta(1, 4, LINKS).astype(np.float32),
            places=np.arange(LINKS, dtype=np.int32),
            wordings=rng.integers(1, CODES, (LINKS, WIDTH)).astype(np.uint16),
        )

    def reward(self, site: int, features: dict[str, float]) -> float:
        """Relevant or not: a rule that a tree can find, and noise that it cannot."""
        anchor = features.get("anchor_relevance", features.get("anchor_relevance_max", 0.0))
        score = 0.5 * anchor + 0.8 * self._quality[site] + 0.3 * features["anchor_keyword"]
        return float((score > 0.45) ^ (self._rng.random() < NOISE))


def measure(features: FeatureSet, steps: int) -> Iterator[Checkpoint]:
    """Crawl the synthetic web and measure at the checkpoints."""
    policy_rng, web_rng = np.random.default_rng(1).spawn(2)
    crawl = CrawlState()
    crawl.sites.make_room(SITES)
    policy = make_policy(PolicySettings(features=features), crawl, policy_rng)
    assert isinstance(policy, Tres)
    web = SyntheticWeb(web_rng)
    policy.learn(Step(policy.seed(web.page(True))[0], 0, 1.0, web.page(True)))
    seconds = np.zeros(steps + 1)
    for step in range(1, steps + 1):
        begin = time.perf_counter()
        choice = policy.choose()
        seconds[step] = time.perf_counter() - begin
        assert choice is not None
        reward = web.reward(choice.site, policy.schema.named(choice.features))
        page = web.page(bool(reward))
        crawl.sites.count(choice.site, bool(reward))
        begin = time.perf_counter()
        policy.learn(Step(choice, choice.site, reward, page))
        seconds[step] += time.perf_counter() - begin
        if step in CHECKPOINTS:
            yield take_stock(policy, step, 1000 * float(seconds[step - LAST + 1 : step + 1].mean()))


def take_stock(policy: Tres, step: int, step_ms: float) -> Checkpoint:
    """Measure time and memory of the synchronous choice on the current frontier."""
    waiting = policy.rows.waiting
    tree_ms = fastest_ms(lambda: policy.best(None))
    whole_ms = fastest_ms(
        lambda: np.argmax(policy.learner.agent.values(policy.rows.vectors(waiting)))
    )
    held = policy.rows.nbytes + policy.tree_frontier.nbytes + policy.learner.replay.nbytes
    return Checkpoint(
        steps=step,
        rows=len(waiting),
        leaves=policy.tree.leaves,
        step_ms=step_ms,
        synchronous_ms=step_ms - tree_ms + whole_ms,
        evaluations=policy.evaluations,
        bytes_per_row=held / policy.rows.total,
    )


def fastest_ms(action: Callable[[], object], repeats: int = 7) -> float:
    """The fastest of several runs: what the machine can do when left alone."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return 1000 * min(times)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="Measure what one decision costs.")
    parser.add_argument("--features", choices=FEATURES, nargs="*", default=["evidence", "paper"])
    parser.add_argument("--steps", type=int, default=CHECKPOINTS[-1])
    options = parser.parse_args()
    table = Table(
        "features",
        "steps",
        "rows",
        "leaves",
        "splits/step",
        "ms/step",
        "synchronous ms/step",
        "time ratio",
        "Q evaluations",
        "evaluation ratio",
        "bytes/row",
    )
    for features in options.features:
        for found in measure(features, options.steps):
            table.add_row(
                features,
                f"{found.steps:,}",
                f"{found.rows:,}",
                f"{found.leaves:,}",
                f"1/{found.steps / max(1, found.leaves - 1):.1f}",
                f"{found.step_ms:.2f}",
                f"{found.synchronous_ms:.1f}",
                f"{found.synchronous_ms / found.step_ms:.0f}x",
                f"{found.evaluations:,}",
                f"{found.rows / found.evaluations:.0f}x",
                f"{found.bytes_per_row:.0f}",
            )
    Console(width=140).print(table)


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
