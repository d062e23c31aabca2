"""From a run and a URL to the facts about it, with the journal opened once.

A fetched page is explained from the journal alone. For a URL that waits, the journal is replayed
to its end, which takes as long as resuming the crawl would.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tres.errors import ConfigError
from tres.numbers import format_count
from tres.report.explain.facts import Citation, Crawl, Explanation, Failed, InFlight
from tres.report.explain.fetched_page import UrlMentions, citations, explain_page, find_mentions
from tres.report.explain.unfetched_url import (
    explain_never_fetched,
    explain_seed,
    explain_waiting,
    site_cap,
)
from tres.report.run_reader import FailureRow, PageRow, RunReader, open_run
from tres.runs.resume_run import tree_of
from tres.store.journal import Journal
from tres.store.journal_records import Received
from tres.web.identity import Identity
from tres.web.page import Failed as NoPage
from tres.web.url import canonical


def explain(run: Path, url: str, web: str | None = None) -> Explanation:
    """Explain why a URL was fetched, or not yet, or never.

    `url` may lack its scheme, or be the number of a step; `web` is where the run's archive is now,
    if it has moved.
    """
    with open_run(run) as (reader, journal):
        return explain_url(reader, journal, url, web)


def explain_url(
    reader: RunReader, journal: Journal, url: str, web: str | None = None
) -> Explanation:
    """Explain a URL of a run that has been read, as of what was read."""
    crawl = crawl_facts(reader)
    if (page := _find_page(reader, url)) is not None:
        return explain_page(
            reader, journal, crawl, page, lambda node: tree_of(reader.run, journal), web
        )
    mentions = _known_spelling(find_mentions(journal, list(_spellings(reader, url))))
    address, cited = mentions.url, citations(mentions, reader)
    if (failure := next((row for row in reader.failures if row.url == address), None)) is not None:
        return _failed(reader, journal, crawl, failure, cited)
    if mentions.requested is not None:
        postponed = _postponed(journal, address)
        return InFlight(crawl, address, mentions.is_seed, cited, postponed)
    if mentions.is_seed:
        return explain_seed(reader, journal, crawl, address)
    if cited and (waiting := explain_waiting(reader, journal, crawl, address, cited)) is not None:
        return waiting
    return explain_never_fetched(reader, journal, crawl, address, cited)


def crawl_facts(reader: RunReader) -> Crawl:
    """Return what explanations say about the run itself."""
    agent, valued = reader.config.agent, reader.policy_info.q_values
    return Crawl(
        name=reader.name,
        pages=len(reader.pages),
        budget=reader.budget,
        relevant=reader.relevant,
        policy=reader.policy,
        gamma=agent.gamma if valued else None,
        scarcity=agent.scarcity if valued and site_cap(reader) is not None else None,
        finished=reader.summary is not None,
    )


def _find_page(reader: RunReader, url: str) -> PageRow | None:
    """The page with this step number, or with this URL in any spelling."""
    if url.isdecimal():
        if not 1 <= int(url) <= len(reader.pages):
            raise ConfigError(
                f"{url}: no page has this number; the run has fetched "
                f"{format_count(len(reader.pages), 'page')}, numbered from 1"
            )
        return reader.pages[int(url) - 1]
    pages = (reader.page(spelling) for spelling in _spellings(reader, url))
    return next((page for page in pages if page is not None), None)


def _spellings(reader: RunReader, url: str) -> Iterator[str]:
    """The URLs that may be meant, as the crawl writes them; `ConfigError` if there are none."""
    written = [url] if "://" in url else [f"https://{url}", f"http://{url}"]
    addresses = [address for each in written if (address := canonical(each))]
    if not addresses or any(blank in url.strip() for blank in " \t\n"):
        raise ConfigError(f"{url!r} is not a web address; write http://... or the number of a step")
    identity = Identity(reader.config.live.drop_parameters)
    for address in addresses:
        yield address
        if not reader.meta.web and (known := identity(address)) and known != address:
            yield known


def _known_spelling(spellings: list[UrlMentions]) -> UrlMentions:
    """The first spelling that the run knows; the last one if it knows none."""
    known = (mentions for mentions in spellings if mentions)
    return next(known, spellings[-1])


def _failed(
    reader: RunReader,
    journal: Journal,
    crawl: Crawl,
    row: FailureRow,
    cited: tuple[Citation, ...],
) -> Failed:
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


def _postponed(journal: Journal, url: str) -> str:
    """The failure after which a URL was postponed for the last time; empty if it never was."""
    attempts = [row for row in journal.postponed() if row["url"] == url]
    return f"{attempts[-1]['kind']}: {attempts[-1]['note'] or ''}".rstrip(": ") if attempts else ""
