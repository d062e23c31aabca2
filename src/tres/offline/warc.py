"""A web from WARC files: what a crawler once got from real servers.

Opening reads all files once and keeps, per URL, one of three things: where its
record begins (a page), where it leads (a redirect), or why it is no page. The first
page of a URL counts, and where there is none, the first answer. The bodies
stay in the file: a page is read, decoded and parsed when it is fetched. For this a
`.warc.gz` must hold one gzip member per record, as the standard recommends.

A directory is the web of all WARC files in it, in the order of their names: so the run of
a live crawl can be opened, even one that is still being written or was killed.

Bodies come from strangers: what is read of one is bounded *after* decompression, so
a gzip bomb costs no more than an honest page that is too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from tres.errors import ArchiveError
from tres.files.opening import opened
from tres.offline.archive import ENDINGS, checked_path, no_pages, readable
from tres.offline.warc_records import (
    MAX_BODY_BYTES,
    Place,
    body_of,
    check_members,
    is_whole,
)
from tres.offline.warc_survey import survey
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.parse import parse_html
from tres.web.url import canonical

MAX_REDIRECTS = 10
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
WARC_ENDINGS = (".warc", ".warc.gz")

ASKED_URI, PAGE_URI = "Tres-Asked-URI", "Tres-Page-URI"
"""Our own fields of a response record: the URL that a crawl had asked for, and the one by which
it knows the page. They stand where these are not the target of the record."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A page, by the place of its record."""

    place: Place


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another URL has the page."""

    target: str


Entry = Stored | Redirect | FailureKind


class Response(NamedTuple):
    """A response record: its target, the URL asked for and that of the page, and what it is."""

    target: str | None
    asked: str | None
    page: str | None
    entry: Entry


class WarcArchive:
    """A `.warc` or `.warc.gz` file, or a directory of such files, as a web."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.files = tuple(map(checked_path, _files(self.path)))
        self._entries: dict[str, Entry] = {}
        self._responses: dict[str, Place] = {}
        last = self.files[-1] if self.path.is_dir() else None
        for file in self.files:
            with readable(file):
                self._load(file, may_grow=file == last and file.suffix == ".gz")
        self._size = sum(isinstance(entry, Stored) for entry in self._entries.values())
        if not self._size:
            raise no_pages(self.path, "response records of HTML pages with a status of 200 to 299")

    @property
    def name(self) -> str:
        """The name of the file or directory."""
        return self.path.absolute().name

    def fetch(self, url: str) -> Outcome:
        """The page that the server sent for a URL, redirects followed inside the archive."""
        match self._final(url):
            case target, Stored(place):
                outcome = _page(target, place)
                return outcome if isinstance(outcome, Page) else Failed(url, outcome.kind)
            case _, Redirect():
                return Failed(url, FailureKind.REDIRECT_LOOP)
            case _, kind:
                return Failed(url, kind)

    def place(self, url: str) -> Place | None:
        """Where the record of the page at a URL begins; None if there is no page."""
        _, entry = self._final(url)
        return entry.place if isinstance(entry, Stored) else None

    def response(self, url: str) -> Place | None:
        """Where the first response of a server for just this URL begins, whatever it was."""
        return self._responses.get(url)

    def known_as(self, url: str) -> str | None:
        """The URL under which the page is known that a crawl had asked for by this one."""
        entry = self._entries.get(url)
        return entry.target if isinstance(entry, Redirect) else None

    def pages(self) -> Iterator[Page]:
        """All pages in the order of the files."""
        for url, entry in self._entries.items():
            if isinstance(entry, Stored) and isinstance(page := _page(url, entry.place), Page):
                yield page

    def __len__(self) -> int:
        return self._size

    def _final(self, url: str) -> tuple[str, Entry]:
        """Where the redirects from a URL end, and what is there."""
        entry = self._entries.get(url, FailureKind.NOT_FOUND)
        for _ in range(MAX_REDIRECTS):
            if not isinstance(entry, Redirect):
                break
            url = entry.target
            entry = self._entries.get(url, FailureKind.NOT_FOUND)
        return url, entry

    def _load(self, file: Path, may_grow: bool) -> None:
        """Note all records; a file that may grow can end in the middle of one."""
        starts: list[int] = []
        try:
            for start, response in survey(file, partial(_response, file)):
                starts.append(start)
                if response is not None:
                    self._add(response, Place(file, start))
            if file.suffix == ".gz":
                with opened(file) as stream:
                    check_members(stream, starts, file)
        except (EOFError, OSError):
            with opened(file) as stream:
                if not may_grow or is_whole(stream, starts):
                    raise

    def _add(self, response: Response, place: Place) -> None:
        """Note what a response is, under all of its names."""
        target, asked, page, entry = response
        if target:
            self._responses.setdefault(target, place)
        for name in (target, asked):
            if name and page and name != page:
                self._note(name, Redirect(page))
        if page:
            self._note(page, entry)

    def _note(self, url: str, entry: Entry) -> None:
        known = self._entries.get(url)
        if known is None or (isinstance(entry, Stored) and not isinstance(known, Stored)):
            self._entries[url] = entry


def page_within(file: Path, start: int, end: int, url: str) -> Outcome | None:
    """The page of the first response that begins between two offsets of a file, under this URL."""
    with readable(file), opened(file) as stream:
        stream.seek(start)
        for record in ArchiveIterator(stream, parse_http=False):
            if record.stream_pos >= end:
                break
            if record.record_type == WarcRecordType.response:
                return _page(url, Place(file, record.stream_pos))
    return None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith(WARC_ENDINGS))
    found = [file for file in found if file.stat().st_size]  # the last may only just be there
    if not found:
        raise ArchiveError(
            f"{path}: holds no WARC file, so there are no pages in it; name the web it was crawled "
            f"from, or an archive ({', '.join(ENDINGS)})"
        )
    return found


def _page(url: str, place: Place) -> Outcome:
    charset, body = body_of(place)
    if body is None:
        return Failed(url, FailureKind.MALFORMED)
    if len(body) > MAX_BODY_BYTES:
        return Failed(url, FailureKind.TOO_LARGE)
    return parse_html(url, body, charset)


def _response(file: Path, record: WarcRecord) -> Response | None:
    """A record, if it is a response."""
    if record.record_type != WarcRecordType.response:
        return None
    target = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
    entry = _entry(target or "", record, file)
    asked = canonical(record.headers.get(ASKED_URI) or "")
    return Response(target, asked, canonical(record.headers.get(PAGE_URI) or "") or target, entry)


def _entry(url: str, record: WarcRecord, file: Path) -> Entry:
    """What a response is, by its status and headers."""
    try:
        record.parse_http()
    except OSError:
        return FailureKind.MALFORMED
    status = record.http_headers.status_code if record.is_http_parsed else None
    if status is None:
        return FailureKind.MALFORMED
    if 300 <= status < 400:
        location = record.http_headers.get("Location")
        target = canonical(location, url) if location else None
        return Redirect(target) if target else FailureKind.HTTP_ERROR
    if not 200 <= status < 300:
        return FailureKind.NOT_FOUND if status in (404, 410) else FailureKind.HTTP_ERROR
    is_html = (record.http_content_type or "text/html").lower() in HTML_TYPES
    return Stored(Place(file, record.stream_pos)) if is_html else FailureKind.NOT_HTML
