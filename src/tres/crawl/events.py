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
    """Fetch these URLs, and pass the outcome of each to `receive`."""

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

    The session knows nothing about the fetch (`at` and the fields after it).
    """

    features: dict[str, float]
    rivals: tuple[tuple[str, float], ...] = ()
    """The best of the other links that were compared, with their Q."""


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """A fetch gave no page: it is not a step and earns nothing, but is counted by kind."""

    url: str
    kind: FailureKind
    is_seed: bool


@dataclass(frozen=True, slots=True)
class Postponed:
    """A fetch gave no page for now: its URL goes back to the frontier and is requested again."""

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
    """A limit on links was reached for the first time: from now on the worst links are dropped.

    `site` has reached it; it is empty for the limit on all links.
    """

    limit: str
    site: str


@dataclass(frozen=True, slots=True)
class SiteHeld:
    """A site has used up its share of the budget; other sites come first now.

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
