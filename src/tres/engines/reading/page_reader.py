"""From a response to what the crawl learns of it: the work that every fetched page costs.

A `PageReader` knows no network and no crawl. The same bytes give the same reading, in this
process or in another (`tres.engines.reading.reader_pool`), which is where pages of strangers
belong. What depends on earlier pages is decided later: `tres.engines.reading.duplicates_and_traps`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tres.engines.reading.decompress import UnpackError, unpacked
from tres.relevance.model_kinds import load_model
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.language import CHARS, language_of
from tres.web.link_rules import LinkRules
from tres.web.near_duplicates import fingerprint
from tres.web.page import Failed, FailureKind, Page
from tres.web.page_claims import believed
from tres.web.parse import Document, parse_document, well_formed
from tres.web.percept import Perceiver, Percept
from tres.web.sitemap import with_sitemap
from tres.web.soft_404 import says_missing
from tres.web.url import SiteBy, canonical

SHORT = 50
"""Words below which a page may consist of keywords: a menu, a picture with its title."""
HTML = frozenset({"text/html", "application/xhtml+xml"})
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\"';\s]{1,40})", re.IGNORECASE)
_LOOKS_LIKE_HTML = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!--|(?:!doctype\s+html|html|head|body|title|meta|script|style"
    rb"|iframe|table|div|font|h1|br|a|b|p)[\s>])",
    re.I,
)


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
    """What was read: a percept, a page that nobody has judged, or a failure; and notes on it.

    `refresh` is where the page sends its readers at once, if it does: a redirect in all but
    name. `dropped` counts the links that rules kept out, by rule. `size` counts the bytes of the
    body without compression.
    """

    outcome: Percept | Page | Failed
    title: str = ""
    fingerprint: int | None = None
    text_chars: int = 0
    refresh: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    size: int = 0


class PageReader:
    """Reads pages for one topic. `year` is the present one, for the rules on calendars.

    Without a perceiver, as in an exploration, pages are read by the same rules and not judged.

    `named` are the keywords that somebody has named, if the perceiver knows more: found ones may
    be so many that honest pages consist of them.
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
        """What a response says."""
        url = canonical(received.url)
        identity = self.rules.identity(url) if url else None
        if not identity:
            return Reading(Failed(well_formed(received.url), FailureKind.BLOCKED_URL))
        if kind := _no_page(received):
            return Reading(Failed(identity, kind), size=len(received.body))
        try:
            body = unpacked(received.body, received.encodings, self.max_bytes)
        except UnpackError as problem:
            failed = Failed(identity, problem.kind)
            return Reading(failed, note=str(problem), size=len(received.body))
        return replace(self._read(identity, body, received), size=len(body))

    def _read(self, identity: str, body: bytes, received: Received) -> Reading:
        if kind := _no_html(body, received.content_type):
            return Reading(Failed(identity, kind))
        document = parse_document(identity, body, charset_of(received.content_type))
        if isinstance(document, Failed):
            return Reading(document)
        return self._perceived(document, received.sitemap)

    def _perceived(self, document: Document, sitemap: tuple[str, ...]) -> Reading:
        before = self.rules.dropped.copy()
        reading = self.of_page(self._own(document, sitemap), document.language)
        dropped = dict(self.rules.dropped - before)
        return replace(reading, refresh=document.head.refresh, dropped=dropped)

    def of_page(self, page: Page, language: str = "") -> Reading:
        """What a page says that has been parsed and claims to be in a language."""
        outcome = self._outcome(page, language)
        return Reading(outcome, page.title, fingerprint(page.content), len(page.text))

    def _own(self, document: Document, sitemap: tuple[str, ...]) -> Page:
        """The page under its own name, with the links that may be followed."""
        page = with_sitemap(document.page, sitemap)
        named = document.head.canonical
        identity = self.rules.identity(named) if named else None
        url = believed(identity, page.url, self._site_by)
        return replace(page, url=url, links=tuple(self.rules.followed(page.links)))

    def _outcome(self, page: Page, claimed: str) -> Percept | Page | Failed:
        if says_missing(page.title, page.text):
            return Failed(page.url, FailureKind.SOFT_NOT_FOUND)
        if self._is_stuffed(page):
            return Failed(page.url, FailureKind.KEYWORD_STUFFING)
        percept = None if self._perceiver is None else self._perceiver.page(page)
        language = percept.language if percept else language_of(page.text or page.title)
        if not language and len(page.text) < CHARS:
            language = claimed
        if self._languages and language and language not in self._languages:
            return Failed(page.url, FailureKind.OTHER_LANGUAGE)
        return replace(percept, language=language) if percept else page

    def _is_stuffed(self, page: Page) -> bool:
        """Does a page do little but repeat keywords?"""
        if self._named is None or len(page.content.split()) < SHORT:
            return False
        return self._named.density(page.content) > self._density


def _no_page(received: Received) -> FailureKind | None:
    """Why a response cannot be a page, by its head alone."""
    if received.status in (404, 410):
        return FailureKind.NOT_FOUND
    if not 200 <= received.status < 300:
        return FailureKind.HTTP_ERROR
    media = _media(received.content_type)
    return FailureKind.NOT_HTML if media and media not in HTML else None


def _no_html(body: bytes, content_type: str) -> FailureKind | None:
    """Why a body cannot be a page, before anything of it is parsed."""
    if not _media(content_type) and not _LOOKS_LIKE_HTML.match(body[:1_000]):
        return FailureKind.NOT_HTML
    return None if body.strip() else FailureKind.MALFORMED


def _media(content_type: str) -> str:
    return re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()


def charset_of(content_type: str) -> str | None:
    """What a Content-Type header says about the encoding, if it does."""
    found = _CHARSET.search(content_type[:1_000])
    return found[1] if found else None


def saved_reader(
    model: str,
    keywords: list[str],
    phrases: list[str],
    site: SiteBy,
    live: dict[str, Any],
    year: int,
    found: list[str],
) -> PageReader:
    """The reader for a saved model: plain values only, as they go to another process."""
    matcher = KeywordMatcher([*keywords, *found], phrases)
    perceiver = Perceiver(load_model(Path(model)), matcher, site)
    named = KeywordMatcher(keywords, phrases)
    return PageReader(perceiver, LiveSection(**live), year, named=named)


def exploring_reader(live: dict[str, Any], year: int, site: SiteBy) -> PageReader:
    """The reader of an exploration, which has no model yet."""
    return PageReader(None, LiveSection(**live), year, site)
