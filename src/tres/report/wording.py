"""A run in words: why a page was chosen, why a crawl ended, what a setting is."""

from __future__ import annotations

from tres.crawl.events import StopReason
from tres.report.run_reader import PageRow

STOPPED: dict[str, str] = {
    StopReason.BUDGET: "the budget is spent",
    StopReason.REQUESTS: "the budget of requests is spent",
    StopReason.FRONTIER_EXHAUSTED: "no link was left",
    StopReason.NO_SEED: "no seed gave a page",
    StopReason.INTERRUPTED: "it was interrupted",
    StopReason.SITES_DOWN: "all sites left were down; 'tres resume' goes on later",
}


def in_words(rule: str) -> str:
    """A rule as people read it.

    >>> in_words("anchor_keyword and site_relevance >= 0.62")
    'anchor keyword and site relevance ≥ 0.62'
    """
    return rule.replace("_", " ").replace("<=", "≤").replace(">=", "≥")


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
