"""The result of a fetch: a page, or a failure of a named kind.

Failure is a value (`Failed`), never an exception and never invented data: the
session counts failures by kind, and they cost no step (see `tres.crawl.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class FailureKind(StrEnum):
    """Why a URL gave no page: the name in reports and `summary.json`, a sentence for people, and
    whether the site has answered, with whatever."""

    meaning: str
    is_answer: bool

    def __new__(cls, value: str, meaning: str = "", is_answer: bool = False) -> Self:
        kind = str.__new__(cls, value)
        kind._value_, kind.meaning, kind.is_answer = value, meaning, is_answer
        return kind

    NOT_FOUND = "http-404", "The server, or the archive, has no such page (404 or 410).", True
    HTTP_ERROR = "http-error", "The server answered with another error.", True
    REDIRECT_LOOP = "redirect-loop", "Redirects led back to where they came from, or never ended."
    NOT_HTML = "not-html", "The response was not HTML: a picture, a document, a download.", True
    TOO_LARGE = "too-large", "The page has more bytes than allowed.", True
    MALFORMED = "malformed", "The response was empty, or not what its headers say.", True
    ALREADY_FETCHED = "already-fetched", "A redirect led to a page that was fetched before."
    SITE_CAP = "site-cap", "A redirect led to a site whose cap is reached."
    SITE_BLOCKED = "site-blocked", "Somebody has blocked this site during the crawl."
    ROBOTS = "robots-denied", "The site's robots.txt does not allow it."
    ROBOTS_UNREACHABLE = "robots-unreachable", "The site's robots.txt could not be fetched."
    BLOCKED_ADDRESS = "blocked-address", "The host has a private or reserved address."
    BLOCKED_URL = "blocked-url", "The URL, or one that it redirects to, may not be fetched."
    OFF_SITE = "off-site", "The URL is outside the spider's allowed_domains, or redirects there."
    DROPPED = "dropped", "A Scrapy component dropped the request."
    NO_ADDRESS = "no-such-host", "The host name has no address."
    NO_CONNECTION = "no-connection", "The server, or a gateway before it, could not be reached."
    PROXY_UNREACHABLE = "proxy-unreachable", "The proxy of the crawl did not answer."
    TIMEOUT = "timeout", "The server took too long."
    THROTTLED = "throttled", "The server asked for longer waits than a page is worth."
    SITE_DOWN = "site-down", "The site had failed before and was left alone for a while."
    UNREADABLE = "unreadable", "Reading the page failed, or took too long.", True
    SOFT_NOT_FOUND = "soft-404", "The page says that it does not exist.", True
    NEAR_DUPLICATE = "near-duplicate", "The page is nearly the same as one fetched before.", True
    KEYWORD_STUFFING = "keyword-stuffing", "The page mostly repeats keywords of the topic."
    OTHER_LANGUAGE = "other-language", "The page is in a language that is not wanted.", True


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
