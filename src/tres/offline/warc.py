"""A web from WARC files: the responses that a crawler once got from real servers.

Opening reads all files once and keeps one of three things per URL: where its record begins (a
page), where it leads (a redirect), or why it is not a page. The first page of a URL counts; without
one, its first response. Bodies stay in the file: a page is read, decoded and parsed when it is
fetched. So a `.warc.gz` must have one gzip member per record, as the standard recommends.

A directory is the web of all its WARC files, in the order of their names. So the run of a live
crawl can be opened, even while it is being written or after it was killed.

Bodies come from strangers: their size is limited *after* decompression, so a gzip bomb costs no
more than any page that is too large.
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
from tres.offline.archive import ENDINGS, archive_errors, check_archive_file, no_pages_error
from tres.offline.warc_reader import (
    MAX_BODY_BYTES,
    Place,
    body_of,
    check_members,
    is_whole,
    scan_records,
)
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.parse import parse_html
from tres.web.url import canonical

MAX_REDIRECTS = 10
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
WARC_ENDINGS = (".warc", ".warc.gz")

ASKED_URI, PAGE_URI = "Tres-Asked-URI", "Tres-Page-URI"
"""Our own fields of a response record: the URL that the crawl requested, and the URL by which it
knows the page. A field is written only if it differs from the target of the record."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """The page is at another URL."""

    target: str


Entry = Place | Redirect | FailureKind
"""A page (the place of its record), a redirect, or why there is no page."""


class Response(NamedTuple):
    """A response record: its target, the URL requested, the URL of the page, and its content."""

    target: str | None
    asked: str | None
    page: str | None
    entry: Entry


class WarcArchive:
    """A `.warc` or `.warc.gz` file, or a directory of such files, as a web."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.files = tuple(map(check_archive_file, _files(self.path)))
        self._entries: dict[str, Entry] = {}
        self._responses: dict[str, Place] = {}
        last = self.files[-1] if self.path.is_dir() else None
        for file in self.files:
            with archive_errors(file):
                self._load(file, may_grow=file == last and file.suffix == ".gz")
        self._size = sum(isinstance(entry, Place) for entry in self._entries.values())
        if not self._size:
            needed = "response records of HTML pages with a status of 200 to 299"
            raise no_pages_error(self.path, needed)

    @property
    def name(self) -> str:
        """The name of the file or directory."""
        return self.path.absolute().name

    def fetch(self, url: str) -> Outcome:
        """Return the page that a server sent for a URL, following redirects in the archive."""
        match self._final(url):
            case target, Place() as place:
                outcome = _page(target, place)
                return outcome if isinstance(outcome, Page) else Failed(url, outcome.kind)
            case _, Redirect():
                return Failed(url, FailureKind.REDIRECT_LOOP)
            case _, kind:
                return Failed(url, kind)

    def place(self, url: str) -> Place | None:
        """Return where the record of the page at a URL begins; None if there is no page."""
        _, entry = self._final(url)
        return entry if isinstance(entry, Place) else None

    def response(self, url: str) -> Place | None:
        """Return where the first response for exactly this URL begins, whatever it was."""
        return self._responses.get(url)

    def redirect_target(self, url: str) -> str | None:
        """Return the URL that a redirect from this URL leads to."""
        entry = self._entries.get(url)
        return entry.target if isinstance(entry, Redirect) else None

    def pages(self) -> Iterator[Page]:
        """Yield all pages in the order of the files."""
        for url, entry in self._entries.items():
            if isinstance(entry, Place) and isinstance(page := _page(url, entry), Page):
                yield page

    def __len__(self) -> int:
        return self._size

    def _final(self, url: str) -> tuple[str, Entry]:
        """Return the URL where the redirects from a URL end, and its entry."""
        entry = self._entries.get(url, FailureKind.NOT_FOUND)
        for _ in range(MAX_REDIRECTS):
            if not isinstance(entry, Redirect):
                break
            url = entry.target
            entry = self._entries.get(url, FailureKind.NOT_FOUND)
        return url, entry

    def _load(self, file: Path, may_grow: bool) -> None:
        """Add all records; a file that may still grow can end in the middle of one."""
        starts: list[int] = []
        try:
            for start, response in scan_records(file, partial(_response, file)):
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
        """Add a response under all its URLs."""
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
        if known is None or (isinstance(entry, Place) and not isinstance(known, Place)):
            self._entries[url] = entry


def page_within(file: Path, start: int, end: int, url: str) -> Outcome | None:
    """Return the page of the first response between two offsets of a file, with this URL."""
    with archive_errors(file), opened(file) as stream:
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
    found = [file for file in found if file.stat().st_size]  # the last may be new and empty
    if not found:
        raise ArchiveError(
            f"{path}: has no WARC files, so it has no pages; give the web it was crawled from, or "
            f"an archive ({', '.join(ENDINGS)})"
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
    """Return a record as a response, if it is one."""
    if record.record_type != WarcRecordType.response:
        return None
    target = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
    entry = _entry(target or "", record, file)
    asked = canonical(record.headers.get(ASKED_URI) or "")
    return Response(target, asked, canonical(record.headers.get(PAGE_URI) or "") or target, entry)


def _entry(url: str, record: WarcRecord, file: Path) -> Entry:
    """Return what a response is, by its status and headers."""
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
    return Place(file, record.stream_pos) if is_html else FailureKind.NOT_HTML
