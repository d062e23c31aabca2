"""The tasks of the reader process: everything that touches untrusted bytes.

A task goes to the process as a message and is performed there; the answer is decoded and checked
here. If there is no answer, the task has failed. The URL of a task says which site its cost is
charged to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

import msgspec
from msgspec.msgpack import decode, encode

from tres.engines.reading.decompress import DecompressError, decompress
from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.engines.reading.wire import checked_reading, reading_message
from tres.web.page import Failed, FailureKind
from tres.web.parse import replace_surrogates
from tres.web.sitemap import MAX_URLS, Sitemap, parse_sitemap
from tres.web.url import SiteBy, canonical

T_co = TypeVar("T_co", covariant=True)


class Task(Protocol[T_co]):
    """A task for the reader process."""

    @property
    def url(self) -> str:
        """Where the bytes came from."""

    def message(self) -> bytes:
        """Encode the task."""

    def perform(self, reader: PageReader) -> bytes:
        """Do the task, in the process, and encode the result."""

    def decode(self, answer: bytes) -> T_co:
        """Decode and check the answer; `ValueError` if it is not valid."""

    def failed(self, note: str) -> T_co:
        """The result if the process gave no answer."""


class _Message(msgspec.Struct, frozen=True, tag=True):
    """A task that encodes itself, with the name of its class."""

    def message(self) -> bytes:
        return encode(self)


class ReadPage(_Message, frozen=True):
    """Read a page."""

    received: Received

    @property
    def url(self) -> str:
        return self.received.url

    def message(self) -> bytes:
        return encode(ReadPage(replace(self.received, url=replace_surrogates(self.url))))

    def perform(self, reader: PageReader) -> bytes:
        return reading_message(reader.read(self.received))

    def decode(self, answer: bytes) -> Reading:
        return checked_reading(answer)

    def failed(self, note: str) -> Reading:
        failed = Failed(replace_surrogates(self.url), FailureKind.UNREADABLE)
        return Reading(failed, note=note, size=len(self.received.body))


class ReadSitemap(_Message, frozen=True):
    """Find the URLs of a sitemap; none if it cannot be read."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    site_by: SiteBy

    def perform(self, reader: PageReader) -> bytes:
        try:
            body = decompress(self.body, self.encodings, reader.max_bytes)
        except DecompressError:
            return encode([(), ()])
        sitemap = parse_sitemap(body, self.url, self.site_by)
        return encode([sitemap.pages, sitemap.sitemaps])

    def decode(self, answer: bytes) -> Sitemap:
        pages, sitemaps = decode(answer, type=tuple[tuple[str, ...], tuple[str, ...]])
        if max(len(pages), len(sitemaps)) > MAX_URLS:
            raise ValueError("not a sitemap: it lists too many URLs")
        if not all(canonical(url) == url for url in pages + sitemaps):
            raise ValueError("not a sitemap: a URL is not canonical")
        return Sitemap(pages, sitemaps)

    def failed(self, note: str) -> Sitemap:
        return Sitemap()


class Decompress(_Message, frozen=True):
    """Decompress a body; with `truncate`, leave out the bytes after `max_bytes`."""

    url: str
    body: bytes
    encodings: tuple[str, ...]
    max_bytes: int
    truncate: bool = False

    def perform(self, reader: PageReader) -> bytes:
        try:
            return encode(decompress(self.body, self.encodings, self.max_bytes, self.truncate))
        except DecompressError as problem:
            return encode([problem.kind, str(problem)])

    def decode(self, answer: bytes) -> bytes | DecompressError:
        result = decode(answer, type=bytes | tuple[FailureKind, str])
        if isinstance(result, tuple):
            if result[0] not in (FailureKind.TOO_LARGE, FailureKind.MALFORMED):
                raise ValueError("not a body: this is not how decompression fails")
            return DecompressError(*result)
        if len(result) > self.max_bytes:
            raise ValueError("not a body: it is too long")
        return result

    def failed(self, note: str) -> DecompressError:
        return DecompressError(FailureKind.UNREADABLE, note)


def perform(reader: PageReader, message: bytes) -> bytes:
    """Do the task in a message, in the reader process; return the encoded result."""
    task: Task[object] = decode(message, type=ReadPage | ReadSitemap | Decompress)
    return task.perform(reader)
