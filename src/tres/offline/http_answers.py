"""What a web answers over HTTP: records as they were stored, other pages as HTML made up.

A source is asked with a canonical URL and gives an `Answer`, or None where it holds nothing.
For WARC files that is the stored response, whatever it was: pages, redirects, errors,
robots.txt. The transfer coding is undone and the length set anew, because both belong to the
connection of those days; all else stays as the server sent it. Where a body is not encoded as
its headers say, that header goes, as the archive reads such bodies undecoded too.
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Literal, Protocol

from fastwarc.warc import ArchiveIterator, WarcRecord

from tres.files.opening import opened
from tres.offline.archive import readable
from tres.offline.http_messages import Answer, answer, told
from tres.offline.jsonl import JsonlArchive
from tres.offline.render import rendered
from tres.offline.warc import WarcArchive
from tres.offline.warc_records import Place
from tres.offline.web import Web
from tres.web.page import Failed, FailureKind, Page
from tres.web.parse import parse_html

HTML = "text/html; charset=utf-8"
MAX_BODY_BYTES = 32 << 20
"""Of a stored body that is longer, only so much is sent; every crawler's limit is lower."""

NOT_FOUND = told(404, "This web holds no such page.")
_OF_THE_CONNECTION = frozenset(
    """
    connection content-length keep-alive proxy-authenticate proxy-connection te trailer
    transfer-encoding upgrade
    """.split()
)
_BODILESS = (204, 304)


class Source(Protocol):
    """Gives answers by URL."""

    def answer(self, url: str) -> Answer | None:
        """The answer for a canonical URL; None if nothing is held there."""


def source_of(web: Web) -> Source:
    """What a web answers."""
    if isinstance(web, WarcArchive):
        return Records(web)
    return Marked(web) if isinstance(web, JsonlArchive) else Rendered(web)


class Rendered:
    """Pages of any web, as documents made for them."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def answer(self, url: str) -> Answer | None:
        match self._web.fetch(url):
            case Page(url=there) if there != url:
                return told(302, f"The page is at {there}", f"Location: {there}")
            case Page() as page:
                return answer(200, self._document(page).encode(), HTML)
            case Failed(kind=FailureKind.NOT_FOUND):
                return None
            case Failed(kind=kind):
                return told(500, f"The archive holds no page here: {kind}.")

    def _document(self, page: Page) -> str:
        return rendered(page)


class Marked(Rendered):
    """Pages of JSON lines: with their own markup, where it says the same as the line."""

    def __init__(self, archive: JsonlArchive) -> None:
        super().__init__(archive)
        self._archive = archive

    def _document(self, page: Page) -> str:
        html = self._archive.html(page.url)
        if html is None:
            return rendered(page)
        read = parse_html(page.url, html.encode("utf-8", "replace"), "utf-8")
        same = isinstance(read, Page) and replace(read, labels=page.labels) == page
        return html if same else rendered(page)


class Records:
    """The responses of WARC files, as they were; what a run knows by another URL is sent there."""

    def __init__(self, archive: WarcArchive) -> None:
        self._archive = archive

    def answer(self, url: str) -> Answer | None:
        place = self._archive.response(url)
        if place is not None:
            return self._stored(place) or told(502, "The archive's record is no HTTP response.")
        if (known := self._archive.known_as(url)) is not None:
            return told(302, f"The page is at {known}", f"Location: {known}")
        return None

    def _stored(self, place: Place) -> Answer | None:
        decodes = self._read(place, "all") is not None
        for coding in _CODINGS:
            if read := self._read(place, coding):
                return _as_stored(*read, encoded=decodes)
        return None

    def _read(self, place: Place, decode: _Coding) -> tuple[WarcRecord, bytes] | None:
        """A record and its body, if it can be decoded so."""
        with readable(place.file), opened(place.file) as file:
            file.seek(place.position)
            try:
                for record in ArchiveIterator(file, auto_decode=decode):
                    return record, record.reader.read(MAX_BODY_BYTES)
            except OSError:
                pass
        return None


_Coding = Literal["all", "transfer", "none"]
_CODINGS: tuple[_Coding, ...] = ("transfer", "none")


def _as_stored(record: WarcRecord, body: bytes, encoded: bool) -> Answer | None:
    """The response that a record holds, if it is one that can be sent again."""
    status = record.http_headers.status_code if record.is_http_parsed else None
    if status is None or not 200 <= status < 600:
        return None
    dropped = _OF_THE_CONNECTION if encoded else _OF_THE_CONNECTION | {"content-encoding"}
    lines = [f"HTTP/1.1 {status} {_reason(record, status)}"]
    for name, value in record.http_headers.astuples():
        if name.lower() not in dropped and not {"\r", "\n"} & set(name + value):
            lines.append(f"{name}: {value}")
    if status in _BODILESS:
        body = b""
    else:
        lines.append(f"Content-Length: {len(body)}")
    return Answer.of(status, lines, body)


def _reason(record: WarcRecord, status: int) -> str:
    _, _, stored = (record.http_headers.status_line or "").partition(str(status))
    known = HTTPStatus(status).phrase if status in list(HTTPStatus) else ""
    return " ".join(stored.split()) or known
