"""A URL that waits: how it stands among all that wait, by the policy as it is now.

The journal is folded to its end, and every row that waits is compared as the policy would
compare it. At a real decision `tres` looks at a sample of them only, and rows of sites that must
wait are left out; so the rank says how good the URL looks, not when its turn will come.
"""

from __future__ import annotations

import numpy as np

from tres.crawl.session import CrawlSession
from tres.mdp.columns import Floats, Ids
from tres.policies.policy import FrontierPolicy
from tres.policies.tree_random import TreeRandom
from tres.report.explain.decision import attributed_features, leaf_of, runners_up
from tres.report.explain.facts import Citation, Crawl, Leaf, RunnerUp, Waiting
from tres.report.run_reader import Rival, RunReader
from tres.runs.resuming import session_of

BEST = 3
"""URLs told of that stand before all others."""


def waiting(
    reader: RunReader, crawl: Crawl, url: str, cited: tuple[Citation, ...]
) -> Waiting | None:
    """How the URL waits; None if it does not."""
    session = session_of(reader.run)
    policy, names = session.policy, session.crawl.urls
    if not isinstance(policy, FrontierPolicy) or url not in names:
        return None
    own = policy.rows.of_url(names.id(url))
    if len(own) == 0:
        return None
    every = policy.rows.waiting
    values = policy.worth(every)
    row = _best_of(own, every, values)
    q = None if values is None else float(values[every == row][0])
    leaf = _leaf(policy, row)
    vectors = policy.rows.vectors(every)
    site = int(policy.rows.site(np.array([row], np.int32))[0])
    return Waiting(
        crawl=crawl,
        url=url,
        site=session.crawl.site_names[site],
        is_seed=False,
        citations=cited,
        features=attributed_features(reader.features, vectors[every == row][0], vectors, leaf),
        q=q,
        rank=None if values is None or q is None else int(np.count_nonzero(values > q)) + 1,
        frontier=len(every),
        best=_best(reader, session, every, values, url),
        leaf=leaf,
        site_pages=session.crawl.sites.pages(site),
        site_cap=cap_of(reader),
        held=session.held is not None and bool(session.held[site]),
    )


def seed_to_come(reader: RunReader, crawl: Crawl, url: str, site: str) -> Waiting:
    """A seed that has not been asked for."""
    pages = sum(row.site == site for row in reader.pages)
    return Waiting(crawl, url, site, True, (), (), None, None, 0, (), None, pages, cap_of(reader))


def cap_of(reader: RunReader) -> int | None:
    """How many pages one site may give by now; None for any number."""
    cap = reader.config.crawl.max_per_site.at(len(reader.pages), reader.budget)
    return int(cap) if np.isfinite(cap) else None


def _best_of(own: Ids, every: Ids, values: Floats | None) -> int:
    """The row that would be chosen first, where a URL has several."""
    if values is None:
        return int(own[0])
    places = np.searchsorted(every, own)
    return int(own[np.argmax(values[places])])


def _leaf(policy: FrontierPolicy, row: int) -> Leaf | None:
    if not isinstance(policy, TreeRandom):
        return None
    return leaf_of(policy.tree_view(), policy.tree_frontier.leaf(row))


def _best(
    reader: RunReader, session: CrawlSession, every: Ids, values: Floats | None, url: str
) -> tuple[RunnerUp, ...]:
    policy, names = session.policy, session.crawl.urls
    if values is None or not isinstance(policy, FrontierPolicy):
        return ()
    before: dict[str, float] = {}
    for place in np.argsort(-values, kind="stable")[: 8 * BEST]:
        before.setdefault(names[policy.rows.url(int(every[place]))], float(values[place]))
    rivals = [Rival(other, q) for other, q in before.items() if other != url]
    return runners_up(reader, tuple(rivals[:BEST]))
