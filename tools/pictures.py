"""Draw the pictures of the documentation: a map of the code, a step, the tree, the Pareto front.

    python -m tools.pictures [code-map] [step] [tree] [pareto]

All but the map come from crawls of a generated web, so everybody gets the same pictures. They show
how tres works and prove nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from tools.code_map import code_map
from tools.drawing import GREEN, INK, PALE, WIDTH, picture, shorten, text
from tres.bench.comparison import prepare_experiment, run_bench
from tres.bench.comparison_report import write_report
from tres.bench.experiment_file import load_experiment
from tres.crawl.events import Fetch
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.frontier.leaf_rules import INFINITY, TreeView, condition
from tres.offline import open_web
from tres.offline.generated.generator import GeneratedWeb
from tres.policies.tres import Tres
from tres.report.charts import STYLE
from tres.report.charts import WIDTH as CHART_WIDTH
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import offline_session
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.web.percept import Percept

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WEB, TOPIC, STEPS = "generated:pages=5000,seed=1", "astronomy", 300
LINE = 24
DEPTH, LEAVES = 3, 7

EXPERIMENT = f"""
web = "generated:pages=20000,seed=1"
[topic]
keywords = ["telescope", "galaxy", "star", "planet", "nebula"]
[training]
labels = ["{TOPIC}"]
[crawl]
pages = 400
runs = 2
max_per_site = ["inf", 3]
policies = ["tres", "tres:new_sites=0.5", "tres:preset=paper", "ache", "parent", "random"]
"""


def main() -> None:
    """Draw the pictures named on the command line, or all."""
    draw = {
        "code-map": code_map,
        "step": lambda: step(*crawled()),
        "tree": lambda: tree(*crawled()),
        "pareto": pareto,
    }
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or draw:
        path = PICTURES / f"{name}.svg"
        path.write_text(draw[name]() + "\n", encoding="utf-8")
        print(path)


def crawled() -> tuple[CrawlSession, Tres, PerceivedWeb]:
    """Crawl `STEPS` pages of the generated web."""
    web = open_web(WEB)
    assert isinstance(web, GeneratedWeb)
    keywords, seeds = web.topics[TOPIC], tuple(web.seeds(TOPIC, 3))
    config = TopicConfig(
        name=TOPIC,
        topic=TopicSection(keywords=keywords, seeds=seeds),
        training=TrainingSection(labels=(TOPIC,)),
        crawl=CrawlSection(pages=2 * STEPS),
    )
    seen = PerceivedWeb(web, perceive_topic(config, web))
    session = offline_session(config, seen)
    while session.steps < STEPS and isinstance(demand := session.next(), Fetch):
        session.receive(demand.urls[0], seen.perceive(demand.urls[0]))
    assert isinstance(session.policy, Tres)
    return session, session.policy, seen


# A step


class Offer(NamedTuple):
    """A leaf and the link that it offers."""

    rule: str
    waiting: int
    url: str
    q: float


def offers(session: CrawlSession, policy: Tres) -> list[Offer]:
    """Return what the leaves offer now, best first."""
    frontier, view = policy.tree_frontier, policy.tree_view()
    rows = frontier.sample(frontier.occupied, 1)
    values = policy.learner.values(rows)
    names = session._crawl.urls  # nothing public tells of links that only wait
    found = []
    for place in np.argsort(-values).tolist():
        leaf = frontier.leaf(int(rows[place]))
        url = names[policy.rows.url(int(rows[place]))]
        found.append(Offer(view.rule(leaf), int(frontier.counts[leaf]), url, float(values[place])))
    return found


def _next_relevant_offers(session: CrawlSession, policy: Tres, seen: PerceivedWeb) -> list[Offer]:
    """Go to the next step whose best offer is relevant, which shows the idea better."""
    while True:
        found = offers(session, policy)
        outcome = seen.perceive(found[0].url)
        if isinstance(outcome, Percept) and outcome.relevant:
            return found
        demand = session.next()
        assert isinstance(demand, Fetch)
        session.receive(demand.urls[0], seen.perceive(demand.urls[0]))


def step(session: CrawlSession, policy: Tres, seen: PerceivedWeb) -> str:
    """Draw one decision: a link of every leaf, their values, the best, and its outcome."""
    all_offers = _next_relevant_offers(session, policy, seen)
    shown = [*all_offers[: LEAVES - 2], *all_offers[len(all_offers) // 2 :][:1], all_offers[-1]]
    outcome = seen.perceive(shown[0].url)
    assert isinstance(outcome, Percept)
    parts = [
        text(16, 26, f"Step {session.steps + 1}: {len(policy):,} links wait in "
             f"{len(all_offers)} leaves, and every leaf offers one", weight="bold"),
        text(16, 52, "rule of the leaf, and the link that was drawn", PALE),
        text(520, 52, "waiting", PALE, "end"),
        text(540, 52, "value that the agent gives it (Q)", PALE),
    ]  # fmt: skip
    y = 78
    most = max(offer.q for offer in shown)
    for number, offer in enumerate(shown):
        if number == LEAVES - 2:
            parts.append(text(16, y, f"... {len(all_offers) - LEAVES} more leaves", PALE))
            y += LINE
        parts += _offer(offer, y, most, chosen=number == 0)
        y += 2 * LINE - 6
    parts.append(text(16, y + 8, _describe_outcome(outcome), GREEN, weight="bold"))
    return picture(y + 28, parts)


def _offer(offer: Offer, y: int, most: float, chosen: bool) -> Iterator[str]:
    colour = GREEN if chosen else PALE
    if chosen:
        yield f'<rect x="6" y="{y - 17}" width="{WIDTH - 12}" height="42" rx="5" fill="#e5f3ea"/>'
    yield text(16, y, shorten(offer.rule, 100), INK)
    yield text(30, y + 17, shorten(offer.url, 70), colour)
    yield text(520, y + 17, f"{offer.waiting:,}", PALE, "end")
    width = 130 * max(0.0, offer.q) / most
    yield f'<rect x="540" y="{y + 7}" width="{width:.1f}" height="11" rx="2" fill="{colour}"/>'
    yield text(546 + width, y + 17, f"{offer.q:.2f}", colour)


def _describe_outcome(outcome: Percept) -> str:
    verdict = "relevant" if outcome.relevant else "not relevant"
    return (
        f"The best is fetched: {verdict} with probability {outcome.relevance:.2f}, so the reward "
        f"is {int(outcome.relevant)}; its {len(outcome.links)} links join the leaves"
    )


# The tree


def tree(session: CrawlSession, policy: Tres, seen: PerceivedWeb) -> str:
    """Draw the top of the tree as an outline; greener means more reward."""
    view = policy.tree_view()
    rows = list(_outline(view, 0, "all links"))
    title = f"The top of a tree of {len(view.leaves)} leaves, after {session.steps} pages"
    parts = [text(16, 26, title, weight="bold")]
    for number, (depth, label, facts, reward) in enumerate(rows):
        x, y = 20 + 34 * depth, 56 + LINE * number
        shade = f"rgb({229 - int(170 * reward)},{238 - int(70 * reward)},{233 - int(150 * reward)})"
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="7" fill="{shade}" stroke="{PALE}"/>')
        parts.append(text(x + 16, y, label, INK))
        parts.append(text(WIDTH - 16, y, facts, PALE, "end"))
    return picture(50 + LINE * len(rows), parts)


def _outline(view: TreeView, number: int, label: str) -> Iterator[tuple[int, str, str, float]]:
    node = view.nodes[number]
    below = "" if node.feature is None or node.depth < DEPTH else ", more leaves below"
    facts = f"{node.experiences} fetched, reward {node.mean_reward:.2f}{below}"
    yield node.depth, label, facts, node.mean_reward
    if node.feature is not None and node.depth < DEPTH:
        assert node.left is not None
        assert node.right is not None
        assert node.threshold is not None
        yield from _outline(view, node.right, condition(node.feature, node.threshold, INFINITY))
        yield from _outline(view, node.left, condition(node.feature, -INFINITY, node.threshold))


# The Pareto front


def pareto() -> str:
    """Draw the figure of a comparison's report, with title and legend."""
    with TemporaryDirectory() as scratch:
        file, out = Path(scratch) / "front.toml", Path(scratch) / "out"
        file.write_text(EXPERIMENT)
        plan = load_experiment(file)
        run_bench(
            prepare_experiment(plan, open_web(plan.web), lambda _: None), out, 1, lambda *_: None
        )
        page = next(path for path in write_report(out) if path.suffix == ".html").read_text()
    figure = re.search(r"<figcaption>(.*?)</figcaption><svg[^>]*>(.*?)</svg>(.*?)</figure>", page)
    assert figure
    title, drawn, legend = figure.groups()
    names = re.findall(r"</span>(.*?)</li>", legend)
    style = re.sub(r"@media.*?\}\}\n?", "", STYLE, flags=re.DOTALL)  # paper is light
    keys = [
        f'<circle class="dot s{n}" cx="{70 + 200 * (n % 2)}" cy="{316 + 20 * (n // 2)}" r="5"/>'
        f"{text(82 + 200 * (n % 2), 320 + 20 * (n // 2), name)}"
        for n, name in enumerate(names)
    ]
    height = 330 + 20 * (len(names) // 2)
    moved = f'<g transform="translate(0 28)">{drawn}</g>'
    heading = text(62, 24, title, weight="600")
    return picture(height, [f"<style>{style}</style>", heading, moved, *keys], CHART_WIDTH)


if __name__ == "__main__":
    main()
