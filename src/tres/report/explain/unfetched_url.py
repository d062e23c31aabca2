"""The facts about a URL that was not requested: how it ranks, or why it will not be fetched.

For a URL that waits, the journal is replayed to its end, and the policy values the whole frontier.
At a real choice `tres` looks only at a sample of it and leaves out sites that must rest; so the
rank says how good the URL looks, not when its turn will come.

Links that a rule has kept out of a live crawl are in no record. So the rules are applied again. If
none objects, no fetched page links to the URL, and its nearest known neighbours are listed.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from itertools import takewhile

import numpy as np

from tres.crawl.frontier_limits import LinkLimits
from tres.crawl.session import CrawlSession
from tres.mdp.columns import Floats, Ids
from tres.policies.policy import FrontierPolicy
from tres.policies.tree_random import TreeRandom
from tres.report.explain.facts import Citation, Crawl, NeverFetched, Reason, RunnerUp, Waiting
from tres.report.explain.fetched_page import leaf_of, ordered_features, runners_up
from tres.report.run_reader import PageRow, Rival, RunReader
from tres.runs.resume_run import session_of
from tres.store.journal import Journal
from tres.web.link_rules import LinkRules
from tres.web.traps import LIMITS, space_of
from tres.web.url import site_of

LIMITS_ON_LINKS = tuple(field.name for field in fields(LinkLimits))
BEST = NEAR = 3
"""Links with the highest values, and known URLs, that are listed."""


def site_cap(reader: RunReader) -> int | None:
    """Return how many pages one site may give by now; None for any number."""
    cap = reader.config.crawl.max_per_site.at(len(reader.pages), reader.budget)
    return int(cap) if np.isfinite(cap) else None


def explain_seed(
    reader: RunReader, journal: Journal, crawl: Crawl, url: str
) -> Waiting | NeverFetched:
    """Return the facts about a seed that has not been requested, perhaps never will."""
    site, pages = _site_pages(reader, url)
    cap = site_cap(reader)
    if site in journal.blocked():
        return NeverFetched(crawl, url, "blocked", site, (), (), pages)
    if cap is not None and pages >= cap:
        return NeverFetched(crawl, url, "site-full", str(cap), (), (), pages)
    return Waiting(crawl, url, site, True, (), (), None, None, 0, (), None, pages, cap)


def explain_waiting(
    reader: RunReader, journal: Journal, crawl: Crawl, url: str, cited: tuple[Citation, ...]
) -> Waiting | None:
    """Return the facts about a URL in the frontier; None if it is not there."""
    session = session_of(reader.run, journal)
    policy, names = session.policy, session.crawl.urls
    if not isinstance(policy, FrontierPolicy) or url not in names:
        return None
    own = policy.rows.of_url(names.id(url))
    if len(own) == 0:
        return None
    every = policy.rows.waiting
    values = policy.values_of(every)
    row = _best_row(own, every, values)
    q = None if values is None else float(values[every == row][0])
    leaf = None
    if isinstance(policy, TreeRandom):
        leaf = leaf_of(policy.tree_view(), policy.tree_frontier.leaf(row))
    vectors = policy.rows.vectors(every)
    site = int(policy.rows.site(np.array([row], np.int32))[0])
    return Waiting(
        crawl=crawl,
        url=url,
        site=session.crawl.site_names[site],
        is_seed=False,
        citations=cited,
        features=ordered_features(reader.features, vectors[every == row][0], vectors, leaf),
        q=q,
        rank=None if values is None or q is None else int(np.count_nonzero(values > q)) + 1,
        frontier=len(every),
        best=_best_links(reader, session, every, values, url),
        leaf=leaf,
        site_pages=session.crawl.sites.pages(site),
        site_cap=site_cap(reader),
        held=session.held is not None and bool(session.held[site]),
    )


def _best_row(own: Ids, every: Ids, values: Floats | None) -> int:
    """The row with the highest value, where a URL has several."""
    if values is None:
        return int(own[0])
    places = np.searchsorted(every, own)
    return int(own[np.argmax(values[places])])


def _best_links(
    reader: RunReader, session: CrawlSession, every: Ids, values: Floats | None, url: str
) -> tuple[RunnerUp, ...]:
    policy, names = session.policy, session.crawl.urls
    if values is None or not isinstance(policy, FrontierPolicy):
        return ()
    best: dict[str, float] = {}
    for place in np.argsort(-values, kind="stable")[: 8 * BEST]:
        best.setdefault(names[policy.rows.url(int(every[place]))], float(values[place]))
    rivals = [Rival(other, q) for other, q in best.items() if other != url]
    return runners_up(reader, tuple(rivals[:BEST]))


def explain_never_fetched(
    reader: RunReader, journal: Journal, crawl: Crawl, url: str, cited: tuple[Citation, ...]
) -> NeverFetched:
    """Return why a URL was not fetched and will not be, as far as the run can tell."""
    site, pages = _site_pages(reader, url)
    if site in journal.blocked():
        reason: tuple[Reason, str] = "blocked", site
    else:
        reason = _why_left_out(reader, pages, cited) if cited else _why_unseen(reader, url)
    near = () if cited else _nearest(reader, journal, url)
    return NeverFetched(crawl, url, *reason, cited, near, pages)


def _site_pages(reader: RunReader, url: str) -> tuple[str, int]:
    site = site_of(url, reader.config.crawl.site)
    return site, sum(row.site == site for row in reader.pages)


def _why_left_out(
    reader: RunReader, site_pages: int, cited: tuple[Citation, ...]
) -> tuple[Reason, str]:
    """Why a URL that fetched pages link to is not in the frontier."""
    cap, clicks = site_cap(reader), reader.config.live.max_clicks
    if cap is not None and site_pages >= cap:
        return "site-full", str(cap)
    by_url = {row.url: row for row in reader.pages}
    if clicks and all(_depth(by_url, each.url) >= clicks for each in cited):
        return "too-deep", str(clicks)
    if reader.policy_info.obeys_focus and reader.config.crawl.focus == "hard":
        return "thrown-away", reader.config.crawl.policy
    dropped = (reader.summary or {}).get("dropped", {})
    limits = [f"crawl.{limit}" for limit in LIMITS_ON_LINKS if limit in dropped]
    return ("limited", ", ".join(limits)) if limits else ("unknown", "")


def _why_unseen(reader: RunReader, url: str) -> tuple[Reason, str]:
    """Why no record names a URL: a rule kept it out, or no fetched page links to it."""
    if reader.meta.web:  # no rules are applied to an archive
        return "unseen", ""
    began = next((row.at for row in reader.pages if row.at is not None), None)
    year = datetime.now(UTC).year if began is None else datetime.fromtimestamp(began, UTC).year
    if objection := LinkRules(reader.config.live, year).objection(url):
        return "rule", objection
    space = space_of(url) if reader.config.live.traps else None
    return ("unseen", "") if space is None else ("unseen", f"{space[0]}: {LIMITS[space[0]]}")


def _depth(by_url: dict[str, PageRow], url: str) -> int:
    """Clicks from the seed to a fetched page."""
    depth, row = 0, by_url.get(url)
    while row is not None and row.parent is not None and depth < len(by_url):
        depth, row = depth + 1, by_url.get(row.parent)
    return depth


def _nearest(reader: RunReader, journal: Journal, url: str) -> tuple[str, ...]:
    """Known URLs of the same site, the longest common prefix first."""
    by = reader.config.crawl.site
    site, wanted = site_of(url, by), _without_scheme(url)
    linked = {link for links, _ in journal.links_and_fingerprints() for link in links}
    known = linked | {row.url for row in reader.pages} | {row.url for row in reader.failures}
    same = [other for other in known if site_of(other, by) == site]
    return tuple(sorted(same, key=lambda other: (-_common(wanted, other), other))[:NEAR])


def _common(wanted: str, other: str) -> int:
    """Length of the common prefix."""
    pairs = zip(wanted, _without_scheme(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _without_scheme(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.")
