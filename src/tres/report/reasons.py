"""Why each page of a run was fetched, in a sentence: the one that opens `tres explain`.

An explanation looks the journal through for one page. Here every page is told about at once, so
the sentences rest on what the journal's tables hold: the features that the policy saw, and when
each URL was chosen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from tres.report.explain.decision import VALUED, feature, how_chosen
from tres.report.explain.summary import Choice, cause, reasons
from tres.report.run_reader import RunReader
from tres.store.journal import JOURNAL, Journal


def reasons_of(reader: RunReader) -> list[str]:
    """A sentence per page, in the order of the pages."""
    return [f"Fetched {cause(choice)}." for choice in _choices(reader)]


def _choices(reader: RunReader) -> Iterator[Choice]:
    seeds, chosen_at = _chosen(reader)
    records = [page.record for page in reader.pages]
    gamma = reader.config.agent.gamma if reader.policy in VALUED else None
    amount = cache(lambda name, value: feature(name, value).amount)
    for page in reader.pages:
        before = bisect_left(records, chosen_at.get(page.asked, 0))
        seen = {
            name: amount(name, value)
            for name, value in zip(reader.features, page.features, strict=True)
        }
        yield Choice(
            how=how_chosen(reader, page, page.asked in seeds, before),
            q=page.q,
            candidates=page.candidates,
            frontier=reader.pages[before - 1].frontier if before else 0,
            policy=reader.policy,
            gamma=gamma,
            reasons=tuple(reasons(seen)),
        )


def _chosen(reader: RunReader) -> tuple[frozenset[str], dict[str, int]]:
    """The seeds, and by URL the record of the demand that chose it."""
    chosen_at: dict[str, int] = {}
    with Journal.open(reader.run / JOURNAL) as journal:
        seeds = frozenset(journal.seeds().links.urls)
        for record, demand in journal.demands():
            for url in demand.urls:
                chosen_at.setdefault(url, record)
    return seeds, chosen_at
