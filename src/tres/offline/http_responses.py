"""The responses of an offline web over HTTP: stored records, or HTML made for its pages.

A source returns an `HttpResponse` for a canonical URL, or None if it has nothing there. For WARC
files that is the stored response, whatever it was: a page, a redirect, an error, robots.txt. Its
transfer coding is removed and its length set anew, as both belong to the connection of that time;
the rest stays as the server sent it. If a body is not encoded as its headers say, the header is
dropped: the archive, too, reads such bodies undecoded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from fastwarc.warc import WarcRecord

from tres.offline.http_messages import HttpResponse, http_response, text_response
from tres.offline.jsonl import JsonlArchive
from tres.offline.render import render_page
from tres.offline.warc import WarcArchive
from tres.offline.warc_reader import read_record
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


Source = Callable[[str], HttpResponse | None]
"""Returns the response for a canonical URL; None if there is none."""


def response_source(web: Web) -> Source:
    """Return the responses of a web."""
    if isinstance(web, WarcArchive):
        return partial(_archived_response, web)
    return partial(_page_response, web)


def _page_response(web: Web, url: str) -> HttpResponse | None:
    """Return a page as HTML, with its own markup where that gives the same page."""
    match web.fetch(url):
        case Page(url=there) if there != url:
            return _redirect(there)
        case Page() as page:
            html = web.html(url) if isinstance(web, JsonlArchive) else None
            if html is None or not _reads_as(page, html):
                html = render_page(page)
            return http_response(200, html.encode(), HTML)
        case Failed(kind=FailureKind.NOT_FOUND):
            return None
        case Failed(kind=kind):
            return text_response(500, f"The archive has no page here: {kind}.")


def _reads_as(page: Page, html: str) -> bool:
    read = parse_html(page.url, html.encode("utf-8", "replace"), "utf-8")
    return isinstance(read, Page) and replace(read, labels=page.labels) == page


def _redirect(target: str) -> HttpResponse:
    return text_response(302, f"The page is at {target}", f"Location: {target}")


def _archived_response(archive: WarcArchive, url: str) -> HttpResponse | None:
    """Return a stored response; a URL that a run knows by another one redirects to it."""
    if place := archive.response(url):
        decodes = read_record(place, "all", MAX_BODY_BYTES) is not None
        read = read_record(place, "transfer", MAX_BODY_BYTES)
        read = read or read_record(place, "none", MAX_BODY_BYTES)
        stored = _stored_response(*read, encoded=decodes) if read else None
        return stored or text_response(502, "The record in the archive is not an HTTP response.")
    known = archive.redirect_target(url)
    return _redirect(known) if known else None


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
