"""The result of a fetch: a page, or a failure of a named kind.

Failure is a value (`Failed`), never an exception and never invented data: the
session counts failures by kind, and they cost no step (see `tres.crawl.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """Why a URL gave no page. Reports and `summary.json` show the value."""

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
    OFF_SITE = "off-site"
    DROPPED = "dropped"
    NO_ADDRESS = "no-such-host"
    NO_CONNECTION = "no-connection"
    PROXY_UNREACHABLE = "proxy-unreachable"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    SITE_DOWN = "site-down"
    UNREADABLE = "unreadable"
    SOFT_NOT_FOUND = "soft-404"
    NEAR_DUPLICATE = "near-duplicate"
    KEYWORD_STUFFING = "keyword-stuffing"
    OTHER_LANGUAGE = "other-language"

    @property
    def is_answer(self) -> bool:
        """Whether the site has answered, with whatever."""
        return self in _ANSWERS

    @property
    def meaning(self) -> str:
        """What happened, in a sentence for people."""
        return _MEANINGS[self]


_ANSWERS = frozenset(
    {
        FailureKind.NOT_FOUND,
        FailureKind.HTTP_ERROR,
        FailureKind.NOT_HTML,
        FailureKind.TOO_LARGE,
        FailureKind.MALFORMED,
        FailureKind.UNREADABLE,
        FailureKind.SOFT_NOT_FOUND,
        FailureKind.NEAR_DUPLICATE,
        FailureKind.OTHER_LANGUAGE,
    }
)
_MEANINGS = {
    FailureKind.NOT_FOUND: "The server, or the archive, has no such page (404 or 410).",
    FailureKind.HTTP_ERROR: "The server answered with another error.",
    FailureKind.REDIRECT_LOOP: "Redirects led back to where they came from, or never ended.",
    FailureKind.NOT_HTML: "The response was not HTML: a picture, a document, a download.",
    FailureKind.TOO_LARGE: "The page has more bytes than allowed.",
    FailureKind.MALFORMED: "The response was empty, or not what its headers say.",
    FailureKind.ALREADY_FETCHED: "A redirect led to a page that was fetched before.",
    FailureKind.SITE_CAP: "A redirect led to a site whose cap is reached.",
    FailureKind.SITE_BLOCKED: "Somebody has blocked this site during the crawl.",
    FailureKind.ROBOTS: "The site's robots.txt does not allow it.",
    FailureKind.ROBOTS_UNREACHABLE: "The site's robots.txt could not be fetched, so no page was.",
    FailureKind.BLOCKED_ADDRESS: "The host has a private or reserved address, which is refused.",
    FailureKind.BLOCKED_URL: "The URL, or one that it redirects to, may not be fetched.",
    FailureKind.OFF_SITE: "The URL is outside the spider's allowed_domains, or redirects there.",
    FailureKind.DROPPED: "A Scrapy component dropped the request.",
    FailureKind.NO_ADDRESS: "The host name has no address.",
    FailureKind.NO_CONNECTION: "The server, or a gateway before it, could not be reached.",
    FailureKind.PROXY_UNREACHABLE: "The proxy of the crawl did not answer.",
    FailureKind.TIMEOUT: "The server took too long.",
    FailureKind.THROTTLED: "The server asked for longer waits than a page is worth.",
    FailureKind.SITE_DOWN: "The site had failed before and was left alone for a while.",
    FailureKind.UNREADABLE: "Reading the page failed, or took too long.",
    FailureKind.SOFT_NOT_FOUND: "The page says that it does not exist.",
    FailureKind.NEAR_DUPLICATE: "The page is nearly the same as one fetched before.",
    FailureKind.KEYWORD_STUFFING: "The page mostly repeats keywords of the topic.",
    FailureKind.OTHER_LANGUAGE: "The page is in a language that the topic does not want.",
}


@dataclass(frozen=True, slots=True)
class Link:
    """One hyperlink of a page: an absolute, canonical URL and its anchor text."""

    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page, reduced to what a focused crawler reads.

    `url` is canonical and final (after redirects). `labels` are the ground truth of some archives;
    only training and judging may look at them.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The text that a relevance model reads: the title on the first line, then the text."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Failed:
    """A URL without a page: why, and whether a later attempt could succeed."""

    url: str
    kind: FailureKind
    retryable: bool = False


Outcome = Page | Failed
