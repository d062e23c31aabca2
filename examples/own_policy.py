"""Your own policy: give links a value, and learn from the pages they lead to.

`Odds` is an online logistic regression over the features of a link. It is compared with `tres` and
with random choice, on the same web and with the same judge.

    python examples/own_policy.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import tres

Floats = NDArray[np.float32]


class Odds(tres.ValuePolicy):
    """The odds that a link leads to a relevant page, learnt during the crawl."""

    def __init__(self, crawl: tres.Crawl, rng: np.random.Generator) -> None:
        super().__init__(crawl, rng)
        # Initial belief: relevant pages and relevant anchors lead to relevant pages.
        self.weights = np.zeros(self.schema.width, np.float32)
        for feature in ("parent_relevance_mean", "anchor_relevance_mean"):
            self.weights[self.schema.column(feature)] = 1.0
        self.bias = -1.0

    def values(self, links: Floats) -> Floats:
        return links @ self.weights + self.bias

    def observe(self, link: Floats, reward: float) -> None:
        chance = 1 / (1 + np.exp(-float(link @ self.weights + self.bias)))
        step = 0.05 * (reward - chance)
        self.weights += np.float32(step) * link
        self.bias += step


def main(directory: Path) -> dict[str, float]:
    web = tres.GeneratedWeb(pages=2000, seed=2)
    topic = tres.new_topic(
        web.topics["pottery"], web.seeds("pottery", 2), labels=["pottery"], pages=200
    )
    runs = [tres.run_crawl(topic, web, run=directory / "tres")]
    judge = runs[0].judge()  # trained once, so that all three are judged alike
    runs.append(tres.run_crawl(topic, web, run=directory / "odds", policy=Odds, judge=judge))
    runs.append(tres.run_crawl(topic, web, run=directory / "random", policy="random", judge=judge))

    print("policy   relevant   harvest rate after 50, 100, ... pages")
    for run in runs:
        curve = "  ".join(f"{rate:.2f}" for rate in run.harvest_curve()[49::50])
        print(f"{run.name:7}  {run.relevant:8}   {curve}")
    return {run.name: run.harvest_rate for run in runs}


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
