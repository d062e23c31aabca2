"""What the reader's process is asked to do with strangers' bytes.

A task knows both ends of its way: the message that goes to the process, what is done there
(`performed`), how the answer is checked that comes back, and what stands for the answer if none
comes. Its URL says on whose account it goes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tres.engines.reading.decompress import UnpackError, unpacked
from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.engines.reading.wire import checked_reading, page_message, reading_message, received_page
from tres.web.page import Failed, FailureKind
from tres.web.parse import well_formed
from tres.web.sitemap import MAX_URLS, Sitemap, parse_sitemap
from tres.web.url import SiteBy, canonical

_PAGE, _SITEMAP, _BODY = b"p", b"s", b"b"

T_co = TypeVar("T_co", covariant=True)


class Task(Protocol[T_co]):
    """One thing to do in the reader's process."""

    @property
    def url(self) -> str:
        """Whose bytes they are."""

    def message(self) -> bytes:
        """What goes to the process."""

    def checked(self, answer: bytes) -> T_co:
        """The answer, if it is one; anything else is a ValueError."""

    def lost(self, note: str) -> T_co:
        """What is left if the process gave none."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Read a page."""

    received: Received

    @property
    def url(self) -> str:
        return self.received.url

    def message(self) -> bytes:
        return _PAGE + page_message(self.received)

    def checked(self, answer: bytes) -> Reading:
        return checked_reading(answer)

    def lost(self, note: str) -> Reading:
        failed = Failed(well_formed(self.url), FailureKind.UNREADABLE)
        return Reading(failed, note=note, size=len(self.received.body))


@dataclass(frozen=True, slots=True)
class ReadSitemap:
    """Find the URLs of a sitemap; one that cannot be read lists none."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    site_by: SiteBy

    def message(self) -> bytes:
        return _with_head(_SITEMAP, [self.url, self.encodings, self.site_by], self.body)

    def checked(self, answer: bytes) -> Sitemap:
        pages, sitemaps = _loaded(answer)
        return Sitemap(_urls(pages), _urls(sitemaps))

    def lost(self, note: str) -> Sitemap:
        return Sitemap()


@dataclass(frozen=True, slots=True)
class Unpack:
    """Take the compression off a body; with `cut`, bytes beyond `most` are left out."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    most: int
    cut: bool = False

    def message(self) -> bytes:
        return _with_head(_BODY, [self.encodings, self.most, self.cut], self.body)

    def checked(self, answer: bytes) -> bytes | UnpackError:
        head, _, body = answer.partition(b"\n")
        kind, note = _loaded(head)
        if not isinstance(kind, str) or not isinstance(note, str) or len(body) > self.most:
            raise ValueError("no body: a value is not what it should be")
        return UnpackError(FailureKind(kind), note) if kind else body

    def lost(self, note: str) -> UnpackError:
        return UnpackError(FailureKind.UNREADABLE, note)


def performed(reader: PageReader, message: bytes) -> bytes:
    """Do what a message asks for; this runs in the reader's process."""
    kind, rest = message[:1], message[1:]
    if kind == _PAGE:
        return reading_message(reader.read(received_page(rest)))
    head, _, body = rest.partition(b"\n")
    return (_sitemap if kind == _SITEMAP else _body)(reader, json.loads(head), body)


def _sitemap(reader: PageReader, head: list[str], body: bytes) -> bytes:
    url, encodings, site_by = head
    try:
        plain = unpacked(body, encodings, reader.max_bytes)
    except UnpackError:
        return b"[[], []]"
    found = parse_sitemap(plain, url, "domain" if site_by == "domain" else "host")
    return json.dumps([found.pages, found.sitemaps]).encode()


def _body(reader: PageReader, head: list[str], body: bytes) -> bytes:
    encodings, most, cut = head
    try:
        return b'["", ""]\n' + unpacked(body, encodings, int(most), bool(cut))
    except UnpackError as problem:
        return json.dumps([problem.kind, str(problem)]).encode() + b"\n"


def _with_head(kind: bytes, head: list[object], body: bytes) -> bytes:
    return kind + json.dumps(head).encode() + b"\n" + body


def _loaded(answer: bytes) -> list[object]:
    """Two values, whatever they are."""
    try:
        found = json.loads(answer)
    except (UnicodeError, RecursionError) as problem:
        raise ValueError(f"no answer: {type(problem).__name__}") from None
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError("no answer: two values are missing")
    return found


def _urls(found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or len(found) > MAX_URLS:
        raise ValueError("no sitemap: a value is not what it should be")
    if not all(isinstance(url, str) and canonical(url) == url for url in found):
        raise ValueError("no sitemap: a URL is not canonical")
    return tuple(found)
