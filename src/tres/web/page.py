"""What a fetch gives back: a page, or a failure with its name.

Failure is a value (`Failed`), never an exception and never invented data: the
session counts failures by kind, and they cost no step (see `tres.crawl.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """Why a URL gave no page. The value is what reports and `summary.json` show."""

    NOT_FOUND = "http-404"
    HTTP_ERROR = "http-error"
    REDIRECT_LOOP = "redirect-loop"
    NOT_HTML = "not-html"
    TOO_LARGE = "too-large"
    MALFORMED = "malformed"
    ALREADY_FETCHED = "already-fetched"
    SITE_CAP = "site-cap"
    SITE_BLOCKED = "site-blocked"
    ROBOTS = "robots-denied"
    ROBOTS_UNREACHABLE = "robots-unreachable"
    BLOCKED_ADDRESS = "blocked-address"
    BLOCKED_URL = "blocked-url"
    DROPPED = "dropped"
    NO_ADDRESS = "no-such-host"
    NO_CONNECTION = "no-connection"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    SITE_DOWN = "site-down"
    UNREADABLE = "unreadable"
    TRAP = "trap"
    SOFT_NOT_FOUND = "soft-404"
    NEAR_DUPLICATE = "near-duplicate"
    OTHER_LANGUAGE = "other-language"


@dataclass(frozen=True, slots=True)
class Link:
    """One hyperlink of a page: an absolute, canonical URL and its anchor text."""

    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Page:
    """A retrieved page, reduced to what a focused crawler reads.

    `url` is canonical and final (after redirects). `labels` are the ground truth
    that some archives carry; nothing but training and judging may look at them.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """What a relevance model reads: the title on the first line, then the text."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Failed:
    """No page: why, and whether trying again later could help."""

    url: str
    kind: FailureKind
    retryable: bool = False


Outcome = Page | Failed
