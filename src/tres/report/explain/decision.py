"""How a page was chosen: by what, before which others, and from which leaf of the tree.

Nodes of the tree keep their numbers: a leaf that has split since is an inner node now, and what
its rows had in common is still the path to it. So the tree of today tells the rule of then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tres.errors import RunError
from tres.frontier.leaf_rules import TreeView
from tres.mdp.columns import Floats
from tres.mdp.schema import COUNTS
from tres.report.explain.discovery import Trail
from tres.report.explain.facts import Condition, Decision, Feature, How, Leaf, RunnerUp
from tres.report.run_reader import PageRow, Rival, RunReader
from tres.runs.resuming import tree_of

VALUED = ("tres", "tres-sync", "tres-async")
"""Policies whose values are those of the agent: rewards, and a share of what follows."""


Trees = Callable[[Path, int], TreeView]
"""The tree of a run in which there is a node of this number."""


def decision(
    reader: RunReader,
    page: PageRow,
    found: Trail,
    tree: Trees = lambda run, node: tree_of(run),
) -> Decision:
    """Why this page, of all links that waited."""
    before = [row for row in reader.pages[: page.step] if row.record < (found.demanded or 0)]
    how = how_chosen(reader, page, found.is_seed, len(before))
    leaf, note = _leaf(reader.run, page, tree)
    return Decision(
        how=how,
        q=page.q,
        rank=1 if how in ("value", "guess") and page.candidates else None,
        candidates=page.candidates,
        frontier=before[-1].frontier if before else 0,
        leaf=leaf,
        leaf_note=note,
        runners_up=runners_up(reader, page.rivals),
    )


def how_chosen(reader: RunReader, page: PageRow, is_seed: bool, steps: int) -> How:
    """By what a page was chosen, when so many steps had been made."""
    if page.parent is None:
        return "seed" if is_seed else "search"
    if page.explored:
        return "random"
    if page.q is None:
        return "order"
    return "guess" if _is_guided(reader, steps) else "value"


def _is_guided(reader: RunReader, steps: int) -> bool:
    """Had the agent seen too few pages to be asked?"""
    agent = reader.config.agent
    return reader.policy in VALUED and steps < agent.warmup + agent.guided


def runners_up(reader: RunReader, rivals: tuple[Rival, ...]) -> tuple[RunnerUp, ...]:
    """The others, and what has become of them since."""
    fetched = _by_any_url(reader)
    failed = {row.url: row.kind for row in reader.failures}
    return tuple(
        RunnerUp(
            url,
            q,
            fetched[url].step if url in fetched else None,
            fetched[url].relevant if url in fetched else None,
            failed.get(url),
        )
        for url, q in rivals
    )


def _by_any_url(reader: RunReader) -> dict[str, PageRow]:
    return {row.asked: row for row in reader.pages} | {row.url: row for row in reader.pages}


def _leaf(run: Path, page: PageRow, tree: Trees) -> tuple[Leaf | None, str]:
    if page.leaf is None:
        return None, ""
    try:
        return leaf_of(tree(run, page.leaf), page.leaf), ""
    except RunError as problem:  # the rest can be told all the same
        return None, problem.message


def leaf_of(view: TreeView, node: int) -> Leaf:
    """A node of the tree, be it a leaf still or not."""
    here = view.nodes[node]
    conditions = tuple(
        Condition(name, _bound(low), _bound(high))
        for name, (low, high) in view.bounds(node).items()
    )
    return Leaf(node, view.rule(node), conditions, here.experiences, here.mean_reward)


def _bound(value: float) -> float | None:
    return value if math.isfinite(value) else None


def feature(name: str, value: float) -> Feature:
    """A feature as people count: logarithms of counts as counts."""
    count = COUNTS.get(name)
    return Feature(name, value, value if count is None else float(round(count(value))))


def attributed_features(
    names: Sequence[str], vector: Floats, others: Floats, leaf: Leaf | None
) -> tuple[Feature, ...]:
    """What was seen of a link: the leaf's rule first, then what is unusual among the others."""
    deviation = others.std(0)
    unusual = np.abs(vector - others.mean(0)) / np.where(deviation > 0, deviation, 1.0)
    by_rule = [] if leaf is None else [condition.feature for condition in leaf.conditions]
    by_surprise = [names[place] for place in np.argsort(-unusual, kind="stable")]
    seen = dict(zip(names, vector.tolist(), strict=True))
    return tuple(feature(name, seen[name]) for name in dict.fromkeys([*by_rule, *by_surprise]))
