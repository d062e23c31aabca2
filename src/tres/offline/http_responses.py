"""The responses of an offline web over HTTP: stored records, or HTML made for its pages.

A source returns an `HttpResponse` for a canonical URL, or None if it has nothing there. For WARC
files that is the stored response, whatever it was: a page, a redirect, an error, robots.txt. Its
transfer coding is removed and its length set anew, as both belong to the connection of that time;
the rest stays as the server sent it. If a body is not encoded as its headers say, the header is
dropped: the archive, too, reads such bodies undecoded.
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Literal, Protocol

from fastwarc.warc import ArchiveIterator, WarcRecord

from tres.files.opening import opened
from tres.offline.archive import archive_errors
from tres.offline.http_messages import HttpResponse, http_response, text_response
from tres.offline.jsonl import JsonlArchive
from tres.offline.render import render_page
from tres.offline.warc import WarcArchive
from tres.offline.warc_records import Place
from tres.offline.web import Web
from tres.web.page import Failed, FailureKind, Page
from tres.web.parse import parse_html

HTML = "text/html; charset=utf-8"
MAX_BODY_BYTES = 32 << 20
"""Longer stored bodies are cut; the limits of crawlers are lower."""

NOT_FOUND = text_response(404, "This web has no such page.")
_HOP_BY_HOP = frozenset(
    """
    connection content-length keep-alive proxy-authenticate proxy-connection te trailer
    transfer-encoding upgrade
    """.split()
)
_BODILESS = (204, 304)


class Source(Protocol):
    """Responses by URL."""

    def response(self, url: str) -> HttpResponse | None:
        """Return the response for a canonical URL; None if there is none."""


def response_source(web: Web) -> Source:
    """Return the responses of a web."""
    if isinstance(web, WarcArchive):
        return StoredResponses(web)
    return MarkupPages(web) if isinstance(web, JsonlArchive) else RenderedPages(web)


class RenderedPages:
    """The pages of any web, as HTML documents made for them."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def response(self, url: str) -> HttpResponse | None:
        match self._web.fetch(url):
            case Page(url=there) if there != url:
                return text_response(302, f"The page is at {there}", f"Location: {there}")
            case Page() as page:
                return http_response(200, self._document(page).encode(), HTML)
            case Failed(kind=FailureKind.NOT_FOUND):
                return None
            case Failed(kind=kind):
                return text_response(500, f"The archive has no page here: {kind}.")

    def _document(self, page: Page) -> str:
        return render_page(page)


class MarkupPages(RenderedPages):
    """Pages of JSON lines, with their own markup where it gives the same page."""

    def __init__(self, archive: JsonlArchive) -> None:
        super().__init__(archive)
        self._archive = archive

    def _document(self, page: Page) -> str:
        html = self._archive.html(page.url)
        if html is None:
            return render_page(page)
        read = parse_html(page.url, html.encode("utf-8", "replace"), "utf-8")
        same = isinstance(read, Page) and replace(read, labels=page.labels) == page
        return html if same else render_page(page)


class StoredResponses:
    """The responses in WARC files; a URL that a run knows by another one redirects to it."""

    def __init__(self, archive: WarcArchive) -> None:
        self._archive = archive

    def response(self, url: str) -> HttpResponse | None:
        place = self._archive.response(url)
        if place is not None:
            broken = text_response(502, "The record in the archive is not an HTTP response.")
            return self._stored(place) or broken
        if (known := self._archive.redirect_target(url)) is not None:
            return text_response(302, f"The page is at {known}", f"Location: {known}")
        return None

    def _stored(self, place: Place) -> HttpResponse | None:
        decodes = self._read(place, "all") is not None
        for coding in _CODINGS:
            if read := self._read(place, coding):
                return _stored_response(*read, encoded=decodes)
        return None

    def _read(self, place: Place, decode: _Coding) -> tuple[WarcRecord, bytes] | None:
        """Return a record and its body, if it can be decoded in this way."""
        with archive_errors(place.file), opened(place.file) as file:
            file.seek(place.position)
            try:
                for record in ArchiveIterator(file, auto_decode=decode):
                    return record, record.reader.read(MAX_BODY_BYTES)
            except OSError:
                pass
        return None


_Coding = Literal["all", "transfer", "none"]
_CODINGS: tuple[_Coding, ...] = ("transfer", "none")


def _stored_response(record: WarcRecord, body: bytes, encoded: bool) -> HttpResponse | None:
    """Return the response in a record, if it can be sent again."""
    status = record.http_headers.status_code if record.is_http_parsed else None
    if status is None or not 200 <= status < 600:
        return None
    dropped = _HOP_BY_HOP if encoded else _HOP_BY_HOP | {"content-encoding"}
    lines = [f"HTTP/1.1 {status} {_reason(record, status)}"]
    for name, value in record.http_headers.astuples():
        if name.lower() not in dropped and not {"\r", "\n"} & set(name + value):
            lines.append(f"{name}: {value}")
    if status in _BODILESS:
        body = b""
    else:
        lines.append(f"Content-Length: {len(body)}")
    return HttpResponse.of(status, lines, body)


def _reason(record: WarcRecord, status: int) -> str:
    _, _, stored = (record.http_headers.status_line or "").partition(str(status))
    known = HTTPStatus(status).phrase if status in list(HTTPStatus) else ""
    return " ".join(stored.split()) or known
