"""What waits in the frontier of a run: by leaf of the tree, and by site.

Only the crawler has the frontier. Everybody else replays its journal, as a resumed crawl does
(`runs.resume_run`), which takes seconds for a long run. So this runs in a process of its own,
and its result is as of the last step in the journal.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tres.crawl.session import CrawlSession
from tres.dashboard.run_counts import Json, harmless
from tres.policies.policy import FrontierPolicy
from tres.report.feature_labels import format_rule
from tres.runs.resume_run import session_of

LEAVES = SITES = 50
"""Entries that are listed; the rest are counted."""


def view_frontier(run: Path) -> Json:
    """Return the frontier of a run as of its last step."""
    session = session_of(run)
    return {
        "step": session.steps,
        "waiting": len(session.policy),
        "in_flight": session.in_flight,
        **_by_leaf(session),
        **_by_site(session),
    }


def _by_leaf(session: CrawlSession) -> Json:
    """Leaves with waiting links, the highest mean reward first."""
    view = session.policy.tree_view()
    if view is None:
        return {"leaves": [], "more_leaves": 0}
    leaves = [leaf for leaf in view.leaves if leaf.rows]
    leaves.sort(key=lambda leaf: (-leaf.mean_reward, -leaf.experiences, leaf.id))
    listed = [
        {
            "leaf": leaf.id,
            "rule": format_rule(view.rule(leaf.id)),
            "reward": round(leaf.mean_reward, 4),
            "fetched": leaf.experiences,
            "waiting": leaf.rows,
        }
        for leaf in leaves[:LEAVES]
    ]
    return {"leaves": listed, "more_leaves": len(leaves) - len(listed)}


def _by_site(session: CrawlSession) -> Json:
    """Sites with most waiting links."""
    policy = session.policy
    if not isinstance(policy, FrontierPolicy):
        return {"sites": [], "more_sites": 0}
    sites, counts = np.unique(policy.rows.site(policy.rows.waiting), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = [
        {"site": harmless(session.site_name(int(sites[i]))), "waiting": int(counts[i])}
        for i in order[:SITES]
    ]
    return {"sites": listed, "more_sites": len(sites) - len(listed)}
