"""A run in words: why a page was chosen, why a crawl ended, what a setting is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tres.crawl.events import StopReason
from tres.frontier.rules import TreeView
from tres.frontier.tree import ROOT
from tres.report.reader import PageRow

STOPPED: dict[str, str] = {
    StopReason.BUDGET: "the budget is spent",
    StopReason.FRONTIER_EXHAUSTED: "no link was left",
    StopReason.NO_SEED: "no seed gave a page",
    StopReason.INTERRUPTED: "it was interrupted",
}

Rule = Callable[[int], str]
"""Rule of a leaf, by its number."""


def rules_of(tree: TreeView | None) -> Rule:
    """The rules of a tree in words.

    A leaf that was split since is a node now, and the rule of that node is the one it had.
    """

    @cache
    def rule(leaf: int) -> str:
        if tree is None or leaf == ROOT or leaf >= len(tree.nodes):
            return ""  # the root has no rule: it holds everything
        return in_words(tree.rule(leaf))

    return rule


def in_words(rule: str) -> str:
    """A rule as people read it.

    >>> in_words("anchor_keyword and site_relevance >= 0.62")
    'anchor keyword and site relevance ≥ 0.62'
    """
    return rule.replace("_", " ").replace("<=", "≤").replace(">=", "≥")


def reason(page: PageRow, rule: Rule) -> str:
    """Why a page was fetched."""
    parts = kind_of(page), rule_behind(page, rule), worth(page)
    return ", ".join(part for part in parts if part)


def kind_of(page: PageRow) -> str:
    """How the choice came about, where it was not by a value."""
    if page.parent is None and page.q is None:
        return "seed"
    if page.explored:
        return "at random"
    return "" if page.q is not None else "in turn"


def worth(page: PageRow) -> str:
    """The value of the choice and among how many."""
    if page.q is None:
        return ""
    among = f" of {page.candidates:,} candidates" if page.candidates else ""
    return f"Q {page.q:.2f}{among}"


def rule_behind(page: PageRow, rule: Rule) -> str:
    """The rule of the leaf that a choice by value came from; chance has none."""
    return "" if page.leaf is None or page.explored else rule(page.leaf)
