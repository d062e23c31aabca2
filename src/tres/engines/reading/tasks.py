"""The tasks of the reader process: everything that is done with the bytes of strangers.

A task knows both ends: the message to the process, how to decode and check the answer, and the
result if there is no answer. `perform` is the other end, in the process. The URL of a task says
which site its cost is charged to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tres.engines.reading.decompress import DecompressError, decompress
from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.engines.reading.wire import checked_reading, page_message, reading_message, received_page
from tres.web.page import Failed, FailureKind
from tres.web.parse import replace_surrogates
from tres.web.sitemap import MAX_URLS, Sitemap, parse_sitemap
from tres.web.url import SiteBy, canonical

_PAGE, _SITEMAP, _BODY = b"p", b"s", b"b"

T_co = TypeVar("T_co", covariant=True)


class Task(Protocol[T_co]):
    """A task for the reader process."""

    @property
    def url(self) -> str:
        """Where the bytes came from."""

    def message(self) -> bytes:
        """Encode the task."""

    def decode(self, answer: bytes) -> T_co:
        """Decode and check the answer; `ValueError` if it is not valid."""

    def failed(self, note: str) -> T_co:
        """The result if the process gave no answer."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Read a page."""

    received: Received

    @property
    def url(self) -> str:
        return self.received.url

    def message(self) -> bytes:
        return _PAGE + page_message(self.received)

    def decode(self, answer: bytes) -> Reading:
        return checked_reading(answer)

    def failed(self, note: str) -> Reading:
        failed = Failed(replace_surrogates(self.url), FailureKind.UNREADABLE)
        return Reading(failed, note=note, size=len(self.received.body))


@dataclass(frozen=True, slots=True)
class ReadSitemap:
    """Find the URLs of a sitemap; none if it cannot be read."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    site_by: SiteBy

    def message(self) -> bytes:
        return _with_head(_SITEMAP, [self.url, self.encodings, self.site_by], self.body)

    def decode(self, answer: bytes) -> Sitemap:
        pages, sitemaps = _two_values(answer)
        return Sitemap(_urls(pages), _urls(sitemaps))

    def failed(self, note: str) -> Sitemap:
        return Sitemap()


@dataclass(frozen=True, slots=True)
class Decompress:
    """Decompress a body; with `truncate`, leave out the bytes after `max_bytes`."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    max_bytes: int
    truncate: bool = False

    def message(self) -> bytes:
        return _with_head(_BODY, [self.encodings, self.max_bytes, self.truncate], self.body)

    def decode(self, answer: bytes) -> bytes | DecompressError:
        head, _, body = answer.partition(b"\n")
        kind, note = _two_values(head)
        if not isinstance(kind, str) or not isinstance(note, str) or len(body) > self.max_bytes:
            raise ValueError("no body: a value is not what it should be")
        return DecompressError(FailureKind(kind), note) if kind else body

    def failed(self, note: str) -> DecompressError:
        return DecompressError(FailureKind.UNREADABLE, note)


def perform(reader: PageReader, message: bytes) -> bytes:
    """Do the task in a message, in the reader process; return the encoded result."""
    kind, rest = message[:1], message[1:]
    if kind == _PAGE:
        return reading_message(reader.read(received_page(rest)))
    head, _, body = rest.partition(b"\n")
    return (_read_sitemap if kind == _SITEMAP else _decompress_body)(reader, json.loads(head), body)


def _read_sitemap(reader: PageReader, head: list[str], body: bytes) -> bytes:
    url, encodings, site_by = head
    try:
        plain = decompress(body, encodings, reader.max_bytes)
    except DecompressError:
        return b"[[], []]"
    found = parse_sitemap(plain, url, "domain" if site_by == "domain" else "host")
    return json.dumps([found.pages, found.sitemaps]).encode()


def _decompress_body(reader: PageReader, head: list[str], body: bytes) -> bytes:
    encodings, max_bytes, truncate = head
    try:
        return b'["", ""]\n' + decompress(body, encodings, int(max_bytes), bool(truncate))
    except DecompressError as problem:
        return json.dumps([problem.kind, str(problem)]).encode() + b"\n"


def _with_head(kind: bytes, head: list[object], body: bytes) -> bytes:
    return kind + json.dumps(head).encode() + b"\n" + body


def _two_values(answer: bytes) -> list[object]:
    """Two values of any type."""
    try:
        values = json.loads(answer)
    except (UnicodeError, RecursionError) as problem:
        raise ValueError(f"no answer: {type(problem).__name__}") from None
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError("no answer: it has not two values")
    return values


def _urls(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > MAX_URLS:
        raise ValueError("no sitemap: a value is not what it should be")
    if not all(isinstance(url, str) and canonical(url) == url for url in values):
        raise ValueError("no sitemap: a URL is not canonical")
    return tuple(values)
