"""From a response to a percept or a failure: the work done for every fetched page.

A `PageReader` knows neither the network nor the crawl. The same bytes give the same reading, in
this process or in a child (`tres.engines.reading.reader_pool`), where the pages of strangers
belong. Checks that depend on earlier pages come later:
`tres.engines.reading.duplicates_and_traps`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Annotated

from msgspec import Meta, structs

from tres.engines.reading.decompress import DecompressError, decompress
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.language import CHARS, language_of
from tres.web.link_rules import LinkRules
from tres.web.near_duplicates import fingerprint
from tres.web.page import Failed, FailureKind, Page
from tres.web.page_claims import page_identity
from tres.web.parse import (
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Document,
    parse_document,
    replace_surrogates,
)
from tres.web.percept import Perceiver, Percept
from tres.web.sitemap import with_sitemap
from tres.web.soft_404 import is_soft_404
from tres.web.url import SiteBy, canonical

MIN_STUFFED_WORDS = 50
"""A shorter page may consist of keywords: a menu, a picture with its title."""
HTML = frozenset({"text/html", "application/xhtml+xml"})
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\"';\s]{1,40})", re.IGNORECASE)
_LOOKS_LIKE_HTML = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!--|(?:!doctype\s+html|html|head|body|title|meta|script|style"
    rb"|iframe|table|div|font|h1|br|a|b|p)[\s>])",
    re.I,
)
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class Received:
    """A response: its final URL in any spelling, and its body as it was sent.

    `encodings` says how the body is compressed (`tres.engines.reading.decompress`). `sitemap` are
    canonical URLs that count as further links of this page.
    """

    url: str
    status: int
    content_type: str
    body: bytes
    sitemap: tuple[str, ...] = ()
    encodings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The result: a percept, an unjudged page (in an exploration) or a failure; and notes on it.

    `refresh` is the target of a redirect by a meta tag. `dropped` counts the links that rules kept
    out, by rule. `size` is the number of bytes of the decompressed body.
    The bounds hold for readings from another process (`tres.engines.reading.wire`).
    """

    outcome: Percept | Page | Failed
    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARS)] = ""
    fingerprint: Annotated[int, Meta(ge=0)] | None = None
    text_chars: Annotated[int, Meta(ge=0, le=MAX_TEXT_CHARS)] = 0
    refresh: str | None = None
    dropped: dict[Annotated[str, Meta(max_length=40)], Count] = field(default_factory=dict)
    note: Annotated[str, Meta(max_length=500)] = ""
    size: Count = 0


class PageReader:
    """Reads pages for one topic. `year` is the current one, for the rules about calendars.

    Without a perceiver, as in an exploration, pages are read by the same rules but not judged.

    `named` are the keywords of the topic file, if the perceiver has more: keywords that expansion
    found may be so many that honest pages consist of them.
    """

    def __init__(
        self,
        perceiver: Perceiver | None,
        settings: LiveSection,
        year: int,
        site_by: SiteBy = "host",
        named: KeywordMatcher | None = None,
    ) -> None:
        self.rules = LinkRules(settings, year)
        self.max_bytes = settings.max_bytes
        self._perceiver = perceiver
        self._site_by = site_by if perceiver is None else perceiver.site_by
        self._named = named or (perceiver.matcher if perceiver else None)
        self._density = settings.keyword_density
        self._languages = frozenset(settings.languages)

    def read(self, received: Received) -> Reading:
        """Read a response."""
        url = canonical(received.url)
        identity = self.rules.identity(url) if url else None
        if not identity:
            return Reading(Failed(replace_surrogates(received.url), FailureKind.BLOCKED_URL))
        if kind := _failure_by_headers(received):
            return Reading(Failed(identity, kind), size=len(received.body))
        try:
            body = decompress(received.body, received.encodings, self.max_bytes)
        except DecompressError as problem:
            failed = Failed(identity, problem.kind)
            return Reading(failed, note=str(problem), size=len(received.body))
        return replace(self._read_body(identity, body, received), size=len(body))

    def _read_body(self, identity: str, body: bytes, received: Received) -> Reading:
        if kind := _failure_by_body(body, received.content_type):
            return Reading(Failed(identity, kind))
        document = parse_document(identity, body, charset_of(received.content_type))
        if isinstance(document, Failed):
            return Reading(document)
        before = self.rules.dropped.copy()
        page = self._with_rules(document, received.sitemap)
        reading = self.read_page(page, document.language)
        dropped = dict(self.rules.dropped - before)
        return replace(reading, refresh=document.head.refresh, dropped=dropped)

    def read_page(self, page: Page, language: str = "") -> Reading:
        """Read a parsed page; `language` is the one that it claims to be in."""
        outcome = self._outcome(page, language)
        return Reading(outcome, page.title, fingerprint(page.content), len(page.text))

    def _with_rules(self, document: Document, sitemap: tuple[str, ...]) -> Page:
        """The page under its canonical URL, with the links that may be followed."""
        page = with_sitemap(document.page, sitemap)
        claimed = document.head.canonical
        identity = self.rules.identity(claimed) if claimed else None
        url = page_identity(identity, page.url, self._site_by)
        return replace(page, url=url, links=tuple(self.rules.filter_links(page.links)))

    def _outcome(self, page: Page, claimed: str) -> Percept | Page | Failed:
        if is_soft_404(page.title, page.text):
            return Failed(page.url, FailureKind.SOFT_NOT_FOUND)
        if self._is_stuffed(page):
            return Failed(page.url, FailureKind.KEYWORD_STUFFING)
        percept = None if self._perceiver is None else self._perceiver.judge_page(page)
        language = percept.language if percept else language_of(page.text or page.title)
        if not language and len(page.text) < CHARS:
            language = claimed
        if self._languages and language and language not in self._languages:
            return Failed(page.url, FailureKind.OTHER_LANGUAGE)
        return structs.replace(percept, language=language) if percept else page

    def _is_stuffed(self, page: Page) -> bool:
        """Whether a page does little but repeat keywords."""
        if self._named is None or len(page.content.split()) < MIN_STUFFED_WORDS:
            return False
        return self._named.density(page.content) > self._density


def _failure_by_headers(received: Received) -> FailureKind | None:
    """Why a response cannot be a page, by its status and Content-Type alone."""
    if received.status in (404, 410):
        return FailureKind.NOT_FOUND
    if not 200 <= received.status < 300:
        return FailureKind.HTTP_ERROR
    media_type = _media_type(received.content_type)
    return FailureKind.NOT_HTML if media_type and media_type not in HTML else None


def _failure_by_body(body: bytes, content_type: str) -> FailureKind | None:
    """Why a body cannot be a page, before it is parsed."""
    if not _media_type(content_type) and not _LOOKS_LIKE_HTML.match(body[:1_000]):
        return FailureKind.NOT_HTML
    return None if body.strip() else FailureKind.MALFORMED


def _media_type(content_type: str) -> str:
    return re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()


def charset_of(content_type: str) -> str | None:
    """The charset in a Content-Type header, if there is one."""
    match = _CHARSET.search(content_type[:1_000])
    return match[1] if match else None
