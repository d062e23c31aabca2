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
        """Does it show that the site answers, whatever it says?"""
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
    FailureKind.NOT_HTML: "What came was no HTML: a picture, a document, a download.",
    FailureKind.TOO_LARGE: "More bytes came than a page may have.",
    FailureKind.MALFORMED: "The answer was empty, or not what its headers say.",
    FailureKind.ALREADY_FETCHED: "A redirect ended on a page that had been fetched before.",
    FailureKind.SITE_CAP: "A redirect ended on a site that has given all the pages it may.",
    FailureKind.SITE_BLOCKED: "Somebody has said that nothing more is wanted of this site.",
    FailureKind.ROBOTS: "The site's robots.txt does not allow it.",
    FailureKind.ROBOTS_UNREACHABLE: "The site's robots.txt could not be had, so nothing was asked.",
    FailureKind.BLOCKED_ADDRESS: "The host has a private or reserved address, which is refused.",
    FailureKind.BLOCKED_URL: "The URL, or one that it redirects to, is none that may be fetched.",
    FailureKind.OFF_SITE: "It lies outside the spider's allowed_domains, or redirects to there.",
    FailureKind.DROPPED: "Something between crawler and network took the request away.",
    FailureKind.NO_ADDRESS: "No address is known for the host.",
    FailureKind.NO_CONNECTION: "There was no connection to the server, or a gateway had none.",
    FailureKind.PROXY_UNREACHABLE: "The proxy that the crawl is to use did not answer.",
    FailureKind.TIMEOUT: "The server took too long.",
    FailureKind.THROTTLED: "The server asked for more patience than a page is given.",
    FailureKind.SITE_DOWN: "The site had failed, and had to be left alone for a while.",
    FailureKind.UNREADABLE: "Reading the page failed, or took too long.",
    FailureKind.SOFT_NOT_FOUND: "The page only says that there is no such page.",
    FailureKind.NEAR_DUPLICATE: "The page is nearly the same as one that was fetched before.",
    FailureKind.KEYWORD_STUFFING: "The page does little but repeat keywords of the topic.",
    FailureKind.OTHER_LANGUAGE: "The page is in a language that the topic does not want.",
}


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
