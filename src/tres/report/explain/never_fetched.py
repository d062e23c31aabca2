"""A URL that is neither fetched nor waiting, and what may be said about why.

Links that a rule has kept out of a live crawl are in no record. So the rules are applied again;
if none objects, then no fetched page links to the URL, and all that can be told are its nearest
neighbours among the URLs that are known.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from itertools import takewhile

from tres.crawl.frontier_limits import LinkLimits
from tres.report.explain.facts import Citation, Crawl, Never, Reason
from tres.report.explain.waiting_url import cap_of
from tres.report.run_reader import PageRow, RunReader
from tres.store.journal import JOURNAL, Journal
from tres.web.link_rules import LinkRules
from tres.web.traps import LIMITS, space_of
from tres.web.url import site_of

LIMITS_ON_LINKS = tuple(field.name for field in fields(LinkLimits))
NEAR = 3
"""Known URLs that are shown."""


def never(reader: RunReader, crawl: Crawl, url: str, cited: tuple[Citation, ...]) -> Never:
    """Why it was not fetched and will not be, as far as the run can tell."""
    site = site_of(url, reader.config.crawl.site)
    pages = sum(row.site == site for row in reader.pages)
    reason, detail = _reason(reader, url, site, pages, cited)
    near = () if cited else _near(reader, url)
    return Never(crawl, url, reason, detail, cited, near, pages)


def _reason(
    reader: RunReader, url: str, site: str, pages: int, cited: tuple[Citation, ...]
) -> tuple[Reason, str]:
    if is_blocked(reader, site):
        return "blocked", site
    return _left_out(reader, pages, cited) if cited else _unseen(reader, url)


def is_blocked(reader: RunReader, site: str) -> bool:
    """Did somebody want nothing more of a site?"""
    with Journal.open(reader.run / JOURNAL) as journal:
        return site in journal.blocked()


def _left_out(
    reader: RunReader, site_pages: int, cited: tuple[Citation, ...]
) -> tuple[Reason, str]:
    """Links lead to it, and it is no action."""
    cap, clicks = cap_of(reader), reader.config.live.max_clicks
    if cap is not None and site_pages >= cap:
        return "site-full", str(cap)
    by_url = {row.url: row for row in reader.pages}
    if clicks and all(_depth(by_url, each.url) >= clicks for each in cited):
        return "too-deep", str(clicks)
    hard = reader.config.crawl.focus == "hard"
    if reader.config.crawl.policy in ("ache", "seedfinder") and hard:
        return "thrown-away", reader.config.crawl.policy
    dropped = (reader.summary or {}).get("dropped", {})
    limits = [f"crawl.{limit}" for limit in LIMITS_ON_LINKS if limit in dropped]
    return ("limited", ", ".join(limits)) if limits else ("unknown", "")


def _unseen(reader: RunReader, url: str) -> tuple[Reason, str]:
    if reader.meta.web:  # an archive is crawled as it is
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


def _near(reader: RunReader, url: str) -> tuple[str, ...]:
    """Known URLs of its site that begin as it does, for as long as possible."""
    by = reader.config.crawl.site
    site, wanted = site_of(url, by), _bare(url)
    with Journal.open(reader.run / JOURNAL) as journal:
        linked = {link for links, _ in journal.read_before() for link in links}
    known = linked | {row.url for row in reader.pages} | {row.url for row in reader.failures}
    same = [other for other in known if site_of(other, by) == site]
    return tuple(sorted(same, key=lambda other: (-_shared(wanted, other), other))[:NEAR])


def _shared(wanted: str, other: str) -> int:
    """Letters that both begin with."""
    pairs = zip(wanted, _bare(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _bare(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.")
