"""The record of a fetched page: every field is a column of the journal's table `pages`.

What a page is called and of which type follows from here for all who write or read pages: the
session's event (`tres.crawl.events.Stepped`), the journal (`tres.store.journal_tables`), rows that
are read back (`tres.report.run_reader.PageRow`), `pages.csv`, exports, the log and the dashboard.
To add a column, add a field and name it in the tuples of those who are to show it.

Two columns are not fields, as the journal keeps them in another form than the session has them:
the features of the choice (one column each, named by the run's schema) and the links that it was
preferred to.
"""

from __future__ import annotations

from typing import get_args

import msgspec


class PageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One page: what it earned, why it was chosen, how it was fetched.

    `q` and `leaf` are None where the policy has none or chose at random. Fields with a default
    describe the fetch; they are unknown in a crawl over an archive.
    """

    step: int
    url: str
    parent: str | None
    """The page with the link that was followed; None for a seed."""
    relevance: float
    relevant: bool = msgspec.field(name="reward")
    q: float | None
    leaf: int | None
    explored: bool
    site: str
    language: str
    asked: str
    """The URL that was requested; `url` is the one after redirects."""
    frontier: int
    """Links in the frontier after the step."""
    leaves: int
    candidates: int
    """Links that were compared when this one was chosen."""
    at: float | None = None
    seconds: float | None = None
    status: int | None = None
    size: int | None = None
    title: str = ""
    note: str = ""


FIELDS = {field.name: field for field in msgspec.structs.fields(PageRecord)}
TYPES: dict[str, type] = {
    name: (get_args(field.type) or (field.type,))[0] for name, field in FIELDS.items()
}
"""The type of each field, apart from None."""

CSV = (
    *("step", "url", "parent", "relevance", "relevant", "q", "leaf", "explored", "site"),
    "language",
)
"""What `pages.csv` holds, before the features: nothing that differs between equal crawls."""
JUDGED: dict[str, type] = {"judged_by": str, "reward": int}
"""What rows that are read back say besides: who judged, and what the page earned when it was
fetched (`tres.store.verdicts`); `relevance` and `relevant` are then those of now."""
EXPORTED = ("language", "relevance", "relevant", *JUDGED, "step", "site", "parent")
"""What exported pages carry besides their URL and content."""
LOGGED = (
    *("step", "url", "parent", "site", "relevance", "relevant", "q", "leaf", "explored"),
    *("language", "frontier", "leaves", "candidates"),
)
"""What a line of the JSON log says about a page."""
SHOWN = (
    *("step", "title", "url", "href", "site", "relevance", "relevant", "judged_by", "reason"),
    *("at", "status"),
)
"""What the dashboard's browser gets; `href` and `reason` are computed there."""
