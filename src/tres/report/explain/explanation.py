"""From a run and what somebody typed to an explanation.

A fetched page is told from the journal alone and quickly; for a URL that waits, the journal is
folded, which takes as long as taking up the crawl again would.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tres.errors import ConfigError
from tres.report.explain.decision import VALUED
from tres.report.explain.discovery import Trail, citations, trail
from tres.report.explain.facts import Citation, Crawl, Explanation, Failed, Never, Underway
from tres.report.explain.fetched import fetched
from tres.report.explain.never_fetched import is_blocked, never
from tres.report.explain.waiting_url import cap_of, seed_to_come, waiting
from tres.report.run_reader import FailureRow, PageRow, RunReader
from tres.store.journal import JOURNAL, Journal
from tres.store.records import Received
from tres.web.identity import Identity
from tres.web.page import Failed as NoPage
from tres.web.url import canonical, site_of


def explain(run: Path, url: str, web: str | None = None) -> Explanation:
    """Why a URL was fetched, or not yet, or never.

    `url` may lack its scheme, or be the number of a step; `web` is where the run's archive is now,
    if it has moved.
    """
    return explain_read(RunReader(run), url, web)


def explain_read(reader: RunReader, url: str, web: str | None = None) -> Explanation:
    """The same, for whoever has read the run already; as of what was read."""
    crawl = crawl_of(reader)
    if (page := _named(reader, url)) is not None:
        return fetched(reader, crawl, page, web)
    address, found = _address(reader, url)
    cited = citations(found, {row.record: row for row in reader.pages})
    if (failure := _failure(reader, address)) is not None:
        return _failed(reader, crawl, failure, cited)
    if found.demanded is not None:
        return Underway(crawl, address, found.is_seed, cited, _postponed(reader, address))
    if found.is_seed:
        return _seed(reader, crawl, address)
    if cited and (still := waiting(reader, crawl, address, cited)) is not None:
        return still
    return never(reader, crawl, address, cited)


def crawl_of(reader: RunReader) -> Crawl:
    """The run as explanations name it."""
    policy, agent = reader.policy, reader.config.agent
    valued, capped = policy in VALUED, cap_of(reader) is not None
    return Crawl(
        name=reader.name,
        pages=len(reader.pages),
        budget=reader.budget,
        relevant=reader.relevant,
        policy=policy,
        gamma=agent.gamma if valued else None,
        scarcity=agent.scarcity if valued and capped else None,
        finished=reader.summary is not None,
    )


def _named(reader: RunReader, url: str) -> PageRow | None:
    """The page that is meant by a step number or a URL in any spelling."""
    if url.isdecimal():
        if not 1 <= int(url) <= len(reader.pages):
            raise ConfigError(
                f"{url}: the run has fetched {len(reader.pages):,} pages; "
                "name a step among them, or a URL"
            )
        return reader.pages[int(url) - 1]
    pages = (reader.page(spelling) for spelling in _spellings(reader, url))
    return next((page for page in pages if page is not None), None)


def _spellings(reader: RunReader, url: str) -> Iterator[str]:
    """What may be meant, as the crawl writes it; `ConfigError` if it is no web address."""
    written = [url] if "://" in url else [f"https://{url}", f"http://{url}"]
    addresses = [address for each in written if (address := canonical(each))]
    if not addresses or any(blank in url.strip() for blank in " \t\n"):
        raise ConfigError(f"{url!r} is no web address; write http://... or the number of a step")
    identity = Identity(reader.config.live.drop_parameters)
    for address in addresses:
        yield address
        if not reader.meta.web and (known := identity(address)) and known != address:
            yield known


def _address(reader: RunReader, url: str) -> tuple[str, Trail]:
    """The spelling that the run knows; the last one if it knows none."""
    for spelling in _spellings(reader, url):
        found = trail(reader.run, spelling)
        if found.is_seed or found.demanded is not None or found.citing:
            break
    return spelling, found


def _failure(reader: RunReader, url: str) -> FailureRow | None:
    return next((row for row in reader.failures if row.url == url), None)


def _failed(
    reader: RunReader, crawl: Crawl, row: FailureRow, cited: tuple[Citation, ...]
) -> Failed:
    with Journal.open(reader.run / JOURNAL) as journal:
        entry = journal.entry(row.record)
    outcome = entry.outcome if isinstance(entry, Received) else None
    again = isinstance(outcome, NoPage) and outcome.retryable
    return Failed(
        crawl=crawl,
        url=row.url,
        kind=row.kind,
        note=row.note,
        status=row.status,
        at=row.at,
        is_seed=row.is_seed,
        after=sum(page.record < row.record for page in reader.pages),
        retryable=again,
        attempts=1 + reader.config.live.retries if again and not reader.meta.web else 1,
        citations=cited,
    )


def _postponed(reader: RunReader, url: str) -> str:
    """How the last attempt went, if the URL went back to wait after it."""
    with Journal.open(reader.run / JOURNAL) as journal:
        attempts = [row for row in journal.postponed() if row["url"] == url]
    return f"{attempts[-1]['kind']}: {attempts[-1]['note'] or ''}".rstrip(": ") if attempts else ""


def _seed(reader: RunReader, crawl: Crawl, url: str) -> Explanation:
    """A seed whose turn has not come, or cannot come as its site is full or blocked."""
    site = site_of(url, reader.config.crawl.site)
    to_come = seed_to_come(reader, crawl, url, site)
    if is_blocked(reader, site):
        return Never(crawl, url, "blocked", site, (), (), to_come.site_pages)
    cap = cap_of(reader)
    if cap is not None and to_come.site_pages >= cap:
        return Never(crawl, url, "site-full", str(cap), (), (), to_come.site_pages)
    return to_come
