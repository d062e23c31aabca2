"""The baselines without learning: by anchor, by parent, in order of discovery, at random."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.support.webs import PerceptWeb, To, drive, page, start, web_of

from tres.policies.setup import PolicySettings
from tres.settings.sections import FEATURES, FeatureSet

every_feature_set = pytest.mark.parametrize("features", FEATURES)


def asked(web: PerceptWeb, name: str, features: FeatureSet, seed: int = 1) -> list[str]:
    return drive(start(web, ["a/0"], PolicySettings(name, features), seed=seed), web).asked


@every_feature_set
def test_by_anchor_the_best_anchor_of_any_page_counts(features: FeatureSet) -> None:
    web = web_of(
        page("a/0", 0.9, To("a/low", 0.2), To("a/mid", 0.5), To("a/twice", 0.1)),
        page("a/mid", 0.1, To("a/high", 0.9), To("a/twice", 0.3)),
        page("a/high", 0.1, To("a/twice", 0.0)),
        page("a/low", 0.1),
        page("a/twice", 0.1),
    )
    assert asked(web, "anchor", features) == ["a/0", "a/mid", "a/high", "a/twice", "a/low"]


@every_feature_set
def test_by_parent_the_best_citing_page_counts(features: FeatureSet) -> None:
    web = web_of(
        page("a/0", 0.5, "a/1", "a/2"),
        page("a/1", 0.3, "a/3", "a/4"),
        page("a/2", 0.4, "a/4", "a/5"),
        *(page(f"a/{i}", 0.1) for i in (3, 4, 5)),
    )
    # 1 and 2 by the seed (0.5); then 4 and 5 by page 2 (0.4); then 3 by page 1 (0.3). Page 4
    # was found by page 1 first, but a link from page 2 is worth more.
    assert asked(web, "parent", features) == ["a/0", "a/1", "a/2", "a/4", "a/5", "a/3"]


@every_feature_set
def test_breadth_first_takes_what_was_found_first(features: FeatureSet) -> None:
    web = web_of(
        page("a/0", 0.9, "a/1", "a/2"),
        page("a/1", 0.9, To("a/3", 1.0), "a/2"),
        page("a/2", 0.1, "a/4", "a/3"),
        page("a/3", 0.1),
        page("a/4", 0.1),
    )
    assert asked(web, "breadth-first", features) == [f"a/{i}" for i in range(5)]


@every_feature_set
def test_equals_are_taken_first_come_first_served(features: FeatureSet) -> None:
    web = web_of(page("a/0", 0.9, *(f"a/{i}" for i in (5, 3, 9, 1))))
    for name in ("anchor", "parent", "breadth-first"):
        assert asked(web, name, features)[1:] == ["a/5", "a/3", "a/9", "a/1"]


def test_random_choice_is_uniform_over_rows_and_learns_nothing() -> None:
    # Ten links, half of them with tempting anchors that lead to relevant pages. Which one is
    # taken first, and which one after seven steps that could have taught something, does not
    # depend on that.
    targets = [To(f"b/{i}", 0.9 if i < 5 else 0.0) for i in range(10)]
    web = web_of(page("a/0", 0.9, *targets), *(page(to.url, to.anchor_relevance) for to in targets))
    orders = [asked(web, "random", "paper", seed) for seed in range(400)]
    for place in (1, 8):
        counts = Counter(order[place] for order in orders)
        # Chi-square with 9 degrees of freedom: above 34 about once in ten thousand trials.
        assert sum((counts[to.url] - 40) ** 2 / 40 for to in targets) < 34


def test_tree_random_gives_every_leaf_the_same_chance() -> None:
    # One rare kind of link that pays, forty common ones that do not. Once the tree tells them
    # apart, the rare kind is drawn as often as the common one.
    rare = [To(f"r/{i}", 0.9) for i in range(30)]
    common = [To(f"c/{i}", 0.1) for i in range(270)]
    web = web_of(page("a/0", 0.9, *rare, *common), *(page(to.url, 0.9) for to in rare))
    web |= web_of(*(page(to.url, 0.1) for to in common))
    found = {}
    for name in ("random", "tree-random"):
        settings = PolicySettings(name, "no-site")
        runs = [start(web, ["a/0"], settings, pages=60, seed=seed) for seed in range(10)]
        found[name] = sum(step.relevant for run in runs for step in drive(run, web).steps[1:])
    # 10 runs of 59 pages: a tenth of them is 59 (random choice); all 300 rare ones are there.
    assert 35 <= found["random"] <= 85
    assert found["tree-random"] >= 120
