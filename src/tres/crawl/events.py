"""What a session returns: demands and events, as plain values.

The session writes nothing. Its driver passes the events on: to a run directory, to a progress
line, to a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tres.crawl.page_record import PageRecord
from tres.web.page import FailureKind


class StopReason(StrEnum):
    """Why a crawl ended."""

    BUDGET = "budget"
    FRONTIER_EXHAUSTED = "frontier-exhausted"
    NO_SEED = "no-seed-answered"
    INTERRUPTED = "interrupted"
    SITES_DOWN = "sites-down"
    REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch these URLs, and hand back the outcome of each."""

    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be chosen now: ask again when a fetch has returned or a site is ready."""


@dataclass(frozen=True, slots=True)
class Done:
    """The crawl is over."""

    reason: StopReason


Demand = Fetch | Wait | Done


class Stepped(PageRecord, frozen=True, kw_only=True):
    """A page was retrieved and judged: one step.

    The session knows nothing of the fetch (`at` and what follows it).
    """

    features: dict[str, float]
    rivals: tuple[tuple[str, float], ...] = ()
    """The best of the other links that were compared, with their Q."""


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """A URL gave no page: no step and no reward, but counted by kind."""

    url: str
    kind: FailureKind
    is_seed: bool


@dataclass(frozen=True, slots=True)
class Postponed:
    """A URL gave no page for now: it goes back to the frontier, and is requested again."""

    url: str
    kind: FailureKind
    is_seed: bool


@dataclass(frozen=True, slots=True)
class LeafSplit:
    """The tree has grown by one leaf."""

    leaf: int
    feature: str
    threshold: float
    reduction: float


@dataclass(frozen=True, slots=True)
class SiteCapped:
    """A site has reached its cap; its links have left the frontier."""

    site: str


@dataclass(frozen=True, slots=True)
class LinksLimited:
    """A limit on links is reached for the first time: from here on the worst links are dropped.

    `site` has reached it; it is empty for the limit on all links.
    """

    limit: str
    site: str


@dataclass(frozen=True, slots=True)
class SiteHeld:
    """A site has used the share of the budget that a site may take; others come first now.

    `site` is a domain, or one host of it that counts by itself (`tres.crawl.endorsement`).
    """

    site: str


@dataclass(frozen=True, slots=True)
class SiteBlocked:
    """A user has blocked a site; its links have left the frontier for good."""

    site: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The driver of the session asks for no URLs until the crawl continues."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The driver of the session asks for URLs again."""


Event = (
    Stepped
    | FetchFailed
    | Postponed
    | LeafSplit
    | SiteCapped
    | LinksLimited
    | SiteHeld
    | SiteBlocked
    | Paused
    | Continued
)
