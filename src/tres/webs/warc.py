"""A web from WARC files: what a crawler once got from real servers.

Opening reads the whole file once and keeps, per URL, one of three things: where its
record begins (a page), where it leads (a redirect), or why it is no page. The bodies
stay in the file: a page is read, decoded and parsed when it is fetched. For this a
`.warc.gz` must hold one gzip member per record, as the standard recommends.

Bodies come from strangers: what is read of one is bounded *after* decompression, so
a gzip bomb costs no more than an honest page that is too large.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from tres.errors import ArchiveError
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.parse import parse_html
from tres.web.url import canonical
from tres.webs.archive import GZIP_MAGIC, checked_path, no_pages, readable

MAX_BODY_BYTES = 4_000_000
MAX_REDIRECTS = 10
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class Stored:
    """A page, by the position of its record."""

    position: int


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another URL has the page."""

    target: str


Entry = Stored | Redirect | FailureKind


class WarcArchive:
    """A `.warc` or `.warc.gz` file as a web."""

    def __init__(self, path: str | Path) -> None:
        self.path = checked_path(path)
        self._entries: dict[str, Entry] = {}
        with readable(self.path):
            self._load()
        self._size = sum(isinstance(entry, Stored) for entry in self._entries.values())
        if not self._size:
            raise no_pages(self.path, "response records of HTML pages with status 200")

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def fetch(self, url: str) -> Outcome:
        """The page that the server sent for a URL, redirects followed inside the archive."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            match self._entries.get(target, FailureKind.NOT_FOUND):
                case Stored(position):
                    outcome = self._page(target, position)
                    return outcome if isinstance(outcome, Page) else Failed(url, outcome.kind)
                case Redirect(target):
                    continue
                case kind:
                    return Failed(url, kind)
        return Failed(url, FailureKind.REDIRECT_LOOP)

    def pages(self) -> Iterator[Page]:
        """All pages in the order of the file."""
        for url, entry in self._entries.items():
            if isinstance(entry, Stored) and isinstance(
                page := self._page(url, entry.position), Page
            ):
                yield page

    def __len__(self) -> int:
        return self._size

    def _load(self) -> None:
        with self.path.open("rb") as file:
            starts = [self._add(record) for record in ArchiveIterator(file, parse_http=False)]
        if self.path.suffix == ".gz":
            self._check_members(starts)

    def _add(self, record: WarcRecord) -> int:
        """Note what a record is; gives where it begins."""
        if record.record_type == WarcRecordType.response:
            url = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
            if url and url not in self._entries:
                self._entries[url] = _entry(url, record)
        _check_whole(record)
        return record.stream_pos

    def _check_members(self, starts: list[int]) -> None:
        """Does a gzip member begin where each record does, and is the last one whole?"""
        with self.path.open("rb") as file:
            for start in starts:
                file.seek(start)
                if file.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
                    raise ArchiveError(
                        f"{self.path}: is compressed as a whole, so pages cannot be read one by "
                        f"one; run `warcio recompress {self.path.name} NEW.warc.gz` and use that"
                    )
            file.seek(starts[-1] if starts else 0)
            _read_to_end(file)

    def _page(self, url: str, position: int) -> Outcome:
        charset, body = self._body(position)
        if body is None:
            return Failed(url, FailureKind.MALFORMED)
        if len(body) > MAX_BODY_BYTES:
            return Failed(url, FailureKind.TOO_LARGE)
        return parse_html(url, body, charset)

    def _body(self, position: int) -> tuple[str | None, bytes | None]:
        """Charset and body; undecoded if it is not encoded as its headers say."""
        with readable(self.path), self.path.open("rb") as file:
            for decode in _DECODE:
                file.seek(position)
                try:
                    record = next(iter(ArchiveIterator(file, auto_decode=decode)))
                    return record.http_charset, record.reader.read(MAX_BODY_BYTES + 1)
                except OSError:
                    continue
        return None, None


_DECODE: tuple[Literal["all", "none"], ...] = ("all", "none")
_CHUNK = 1 << 20


def _entry(url: str, record: WarcRecord) -> Entry:
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
    if status != 200:
        return FailureKind.NOT_FOUND if status in (404, 410) else FailureKind.HTTP_ERROR
    is_html = (record.http_content_type or "text/html").lower() in HTML_TYPES
    return Stored(record.stream_pos) if is_html else FailureKind.NOT_HTML


def _check_whole(record: WarcRecord) -> None:
    """The library takes the end of the file for the end of a record; this one does not."""
    if "Content-Length" not in record.headers or record.reader.consume() < record.content_length:
        raise EOFError


def _read_to_end(file: BinaryIO) -> None:
    """Reading gzip that was cut short or has something else at its end raises."""
    with gzip.open(file) as members:
        while members.read(_CHUNK):
            pass
