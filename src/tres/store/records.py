"""What a crawl was told and what it answered, as values, and each of them as bytes.

A session is a deterministic machine, so a crawl is known if its inputs are known, in order:

    Seeds       the links that it starts from, as they were perceived
    Begin       from here on: so many pages in all, judged by the model of this digest
    Demanded    `next` was called so and chose these URLs; sites by their ids in the session
    Received    what came of a URL: a whole percept, or a failure
    Blocked     from here on nothing of this site is wanted

What a machine was given is kept bit for bit. Strings stand in a JSON list (so a string may
hold anything), numbers behind it as they lie in memory; both together are compressed.

Decoding trusts nothing: whatever the bytes are, the answer is an entry or `DamagedError`.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept

LARGEST = 256_000_000
"""Bytes that a record may unfold to; a page of some megabytes stays far below."""
ESCAPED, OF_A_LINK = 12, 16
"""Bytes that a letter, and a link beside its letters, may take before they are compressed."""
QUICK = 1
"""Level of compression: higher ones win a tenth of the size for three times the time."""

_LENGTH = struct.Struct("<I")
_RELEVANCE = struct.Struct("<d")


class DamagedError(ValueError):
    """These bytes are no record."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """The crawl starts from these links."""

    links: LinkPercepts


@dataclass(frozen=True, slots=True)
class Begin:
    """A segment: from here on so many pages in all, judged by the model of this digest."""

    pages: int
    model: str


@dataclass(frozen=True, slots=True)
class Demanded:
    """`next(k, waiting)` was answered with these URLs; sites are named by their ids, ascending."""

    k: int
    waiting: tuple[int, ...]
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """What came of a URL that had been asked for."""

    asked: str
    outcome: Percept | Failed


@dataclass(frozen=True, slots=True)
class Blocked:
    """From here on nothing of this site is wanted."""

    site: str


Entry = Seeds | Begin | Demanded | Received | Blocked


def encode(entry: Entry) -> tuple[str, bytes]:
    """The kind of an entry, and its bytes."""
    match entry:
        case Seeds(links):
            return "seeds", _packed(_names(links), _columns(links))
        case Begin(pages, model):
            return "begin", _packed([pages, model])
        case Demanded(k, waiting, urls):
            return "demand", _packed([k, _gaps(waiting), urls])
        case Received(asked, outcome):
            return _encoded_outcome(asked, outcome)
        case Blocked(site):
            return "blocked", _packed([site])


def _encoded_outcome(asked: str, outcome: Percept | Failed) -> tuple[str, bytes]:
    if isinstance(outcome, Failed):
        names = [asked, outcome.url, str(outcome.kind), outcome.retryable]
        return "failure", _packed(names)
    links = outcome.links
    names = [asked, outcome.url, outcome.site, outcome.language, *_names(links)]
    return "page", _packed(names, _RELEVANCE.pack(outcome.relevance) + _columns(links))


def fits(entry: Received) -> bool:
    """Does an outcome make a record that can be read again? A page may have any number of links."""
    if isinstance(entry.outcome, Failed):
        return True
    links = entry.outcome.links
    letters = sum(sum(map(len, texts)) for texts in _names(links))
    return ESCAPED * letters + OF_A_LINK * len(links) < LARGEST


def decode(kind: str, body: bytes) -> Entry:
    """The entry that was encoded; `DamagedError` if these bytes are none."""
    reader = READERS.get(kind)
    if reader is None:
        raise DamagedError(f"there are no records of the kind {kind!r}")
    try:
        return reader(*_unpacked(body))
    except (TypeError, ValueError, KeyError, RecursionError, struct.error, zlib.error) as error:
        raise DamagedError(str(error)) from None


def link_urls(body: bytes) -> tuple[str, ...]:
    """The URLs of the links of a page, without all the rest of its record."""
    try:
        names, _ = _unpacked(body)
        return _strings(names[4])
    except (ValueError, IndexError, RecursionError, struct.error, zlib.error) as error:
        raise DamagedError(str(error)) from None


def names_url(body: bytes, urls: Iterable[str]) -> bool:
    """Return whether a record names any of some URLs, without decoding it."""
    try:
        content = _unfolded(body)
        return any(json.dumps(url).encode() in content for url in urls)
    except zlib.error as error:
        raise DamagedError(str(error)) from None


def _packed(names: list[Any], numbers: bytes = b"") -> bytes:
    text = json.dumps(names, separators=(",", ":")).encode()
    return zlib.compress(_LENGTH.pack(len(text)) + text + numbers, QUICK)


def _unpacked(body: bytes) -> tuple[list[Any], bytes]:
    content = _unfolded(body)
    (length,) = _LENGTH.unpack_from(content)
    names = json.loads(content[_LENGTH.size : _LENGTH.size + length])
    if not isinstance(names, list):
        raise DamagedError("its names are no list")
    return names, content[_LENGTH.size + length :]


def _unfolded(body: bytes) -> bytes:
    unfolding = zlib.decompressobj()
    content = unfolding.decompress(body, LARGEST)
    if not unfolding.eof or unfolding.unused_data:
        raise DamagedError("it is cut short, or something follows it")
    return content


def _names(links: LinkPercepts) -> list[tuple[str, ...]]:
    return [links.urls, links.sites, links.anchors]


def _columns(links: LinkPercepts) -> bytes:
    """A byte with both keyword flags for each link, then the relevances of the anchors."""
    if links.anchor_relevance.dtype != np.float32:
        raise TypeError(f"anchor relevance is {links.anchor_relevance.dtype}, not float32")
    flags = links.url_keyword.astype(np.uint8) | (links.anchor_keyword.astype(np.uint8) << 1)
    return flags.tobytes() + links.anchor_relevance.astype("<f4", copy=False).tobytes()


def _links(urls: object, sites: object, anchors: object, columns: bytes) -> LinkPercepts:
    targets, homes, words = _strings(urls), _strings(sites), _strings(anchors)
    count = len(targets)
    if len(homes) != count or len(words) not in (0, count) or len(columns) != 5 * count:
        raise DamagedError("its links are incomplete")
    flags = np.frombuffer(columns, np.uint8, count)
    return LinkPercepts(
        targets,
        homes,
        (flags & 1).astype(np.bool_),
        (flags & 2).astype(np.bool_),
        np.frombuffer(columns, "<f4", count, offset=count).astype(np.float32),
        words,
    )


def _seeds(names: list[Any], numbers: bytes) -> Seeds:
    urls, sites, anchors = names
    return Seeds(_links(urls, sites, anchors, numbers))


def _begin(names: list[Any], numbers: bytes) -> Begin:
    pages, model = names
    return Begin(_whole(pages), _string(model))


def _demand(names: list[Any], numbers: bytes) -> Demanded:
    k, waiting, urls = names
    return Demanded(_whole(k), _sums(waiting), _strings(urls))


def _failure(names: list[Any], numbers: bytes) -> Received:
    asked, url, kind, retryable = names
    return Received(_string(asked), Failed(_string(url), FailureKind(kind), retryable is True))


def _page(names: list[Any], numbers: bytes) -> Received:
    asked, url, site, language, targets, sites, anchors = names
    (relevance,) = _RELEVANCE.unpack_from(numbers)
    links = _links(targets, sites, anchors, numbers[_RELEVANCE.size :])
    percept = Percept(_string(url), _string(site), relevance, links, _string(language))
    return Received(_string(asked), percept)


def _blocked(names: list[Any], numbers: bytes) -> Blocked:
    (site,) = names
    return Blocked(_string(site))


READERS: dict[str, Callable[[list[Any], bytes], Entry]] = {
    "seeds": _seeds,
    "begin": _begin,
    "demand": _demand,
    "failure": _failure,
    "page": _page,
    "blocked": _blocked,
}


def _gaps(ids: tuple[int, ...]) -> list[int]:
    """Ids as the steps between them: hundreds of sites may wait, and small numbers take no room."""
    return [after - before for before, after in pairwise((0, *ids))]


def _sums(gaps: object) -> tuple[int, ...]:
    if not isinstance(gaps, list):
        raise DamagedError(f"{gaps!r} stands where a list should")
    return tuple(accumulate(map(_whole, gaps)))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise DamagedError(f"{value!r} stands where text should")
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise DamagedError(f"{value!r} stands where a list should")
    return tuple(_string(each) for each in value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DamagedError(f"{value!r} stands where a number should")
    return value
