"""The records of a journal: the inputs of a crawl, in order, as values and as bytes.

A session is deterministic, so a crawl is known if its inputs are known:

    Seeds       the links that it starts from
    Begin       from here on: a budget of pages, judged by the model of this digest
    Demanded    `next` was called so and chose these URLs; sites by their ids in the session
    Received    the outcome of a URL: a whole percept, or a failure
    Blocked     from here on the crawl takes nothing from this site
    PageText    what a page says; comes before its outcome, while the crawl teaches its model

The bytes of an entry are those of `tres.web.percept_codec`, compressed: a string may hold anything,
and a number is kept bit for bit.

Decoding trusts nothing: whatever the bytes are, the answer is an entry or `DamagedError`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Annotated, Any

import msgspec

from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept
from tres.web.percept_codec import (
    LINK_URLS,
    LINKS_TEXT,
    PERCEPT_TEXT,
    Strings,
    decode_links,
    decode_percept,
    encode_links,
    encode_percept,
    link_texts,
    list_type,
    pack,
    parse,
    unpack,
)

LARGEST = 256_000_000
"""Decompressed bytes of the largest record; a page of some megabytes stays far below."""
ESCAPED, OF_A_LINK = 12, 16
"""Bytes that a character, and a link beside its characters, may take before compression."""
QUICK = 1
"""Level of compression: higher ones save a tenth of the size for three times the time."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class DamagedError(ValueError):
    """The bytes differ from those that were written."""


class Seeds(msgspec.Struct, frozen=True):
    """The crawl starts from these links."""

    links: LinkPercepts


class Begin(msgspec.Struct, frozen=True):
    """A segment: from here on a budget of pages, judged by the model of this digest."""

    pages: int
    model: str


class Demanded(msgspec.Struct, frozen=True):
    """`next(k, waiting)` chose these URLs; sites that had to wait by their ids, ascending."""

    k: int
    waiting: tuple[int, ...]
    urls: tuple[str, ...]


class Received(msgspec.Struct, frozen=True):
    """The outcome of a URL that had been requested."""

    asked: str
    outcome: Percept | Failed


class Blocked(msgspec.Struct, frozen=True):
    """From here on the crawl takes nothing from this site."""

    site: str


class PageText(msgspec.Struct, frozen=True):
    """What a page says, for the models that the crawl teaches."""

    url: str
    content: str


Entry = Seeds | Begin | Demanded | Received | Blocked | PageText

TEXTS: dict[str, Any] = {
    "seeds": list_type(*LINKS_TEXT),
    "begin": tuple[Count, str],
    "demand": tuple[Count, tuple[Count, ...], Strings],
    "failure": tuple[str, str, FailureKind, bool],
    "page": list_type(str, *PERCEPT_TEXT),
    "blocked": tuple[str],
    "text": tuple[str, str],
}
"""The kinds of records, and the types in the JSON list of each."""
_PLAIN: dict[type, str] = {Blocked: "blocked", PageText: "text"}
"""Records that are their fields, and nothing more."""


def encode(entry: Entry) -> tuple[str, bytes]:
    """Return the kind of an entry, and its bytes."""
    kind, text, numbers = _encoded(entry)
    return kind, zlib.compress(pack(text, numbers), QUICK)


def _encoded(entry: Entry) -> tuple[str, list[Any], bytes]:
    match entry:
        case Received(asked, Percept() as percept):
            texts, numbers = encode_percept(percept)
            return "page", [asked, *texts], numbers
        case Seeds(links):
            return "seeds", *encode_links(links)
        case Begin(pages, model):
            return "begin", [pages, model], b""
        case Demanded(k, waiting, urls):
            return "demand", [k, _gaps(waiting), urls], b""
        case Received(asked, Failed(url, kind, retryable)):
            return "failure", [asked, url, kind, retryable], b""
        case Blocked() | PageText():
            return _PLAIN[type(entry)], list(msgspec.structs.astuple(entry)), b""
    raise TypeError(f"{entry!r:.50} is not an entry")


def fits(entry: Received) -> bool:
    """Return whether the record of an outcome stays within the size that `decode` accepts."""
    if isinstance(entry.outcome, Failed):
        return True
    links = entry.outcome.links
    characters = sum(sum(map(len, column)) for column in link_texts(links))
    return ESCAPED * characters + OF_A_LINK * len(links) < LARGEST


def decode(kind: str, body: bytes) -> Entry:
    """Return the entry that was encoded; `DamagedError` if these bytes are not an entry."""
    if kind not in TEXTS:
        raise DamagedError(f"there are no records of the kind {kind!r}")
    try:
        encoded, numbers = unpack(_decompress(body))
        return _decoded(kind, parse(encoded, TEXTS[kind]), numbers)
    except (ValueError, RecursionError, zlib.error) as error:
        raise DamagedError(str(error)) from None


def _decoded(kind: str, text: Any, numbers: bytes) -> Entry:
    match kind:
        case "seeds":
            return Seeds(decode_links(text, numbers))
        case "begin":
            return Begin(*text)
        case "demand":
            k, gaps, urls = text
            return Demanded(k, tuple(accumulate(gaps)), urls)
        case "failure":
            asked, *failed = text
            return Received(asked, Failed(*failed))
        case "page":
            asked, *texts = text
            return Received(asked, decode_percept(texts, numbers))
    return (PageText if kind == _PLAIN[PageText] else Blocked)(*text)


def link_urls(body: bytes) -> tuple[str, ...]:
    """Return the URLs of the links of a page, without decoding the rest of its record."""
    try:
        encoded, _ = unpack(_decompress(body))
        urls: Strings = parse(encoded, TEXTS["page"])[1 + LINK_URLS]
        return urls
    except (ValueError, RecursionError, zlib.error) as error:
        raise DamagedError(str(error)) from None


def names_url(body: bytes, urls: Iterable[str]) -> bool:
    """Return whether a record names any of these URLs, without decoding it."""
    try:
        content = _decompress(body)
    except zlib.error as error:
        raise DamagedError(str(error)) from None
    return any(json.dumps(url).encode() in content for url in urls)


def _decompress(body: bytes) -> bytes:
    stream = zlib.decompressobj()
    content = stream.decompress(body, LARGEST)
    if not stream.eof or stream.unused_data:
        raise DamagedError("it is cut short, or something follows it")
    return content


def _gaps(ids: Iterable[int]) -> list[int]:
    """Ids as differences: hundreds of sites may wait, and small numbers take little room."""
    return [after - before for before, after in pairwise((0, *ids))]
