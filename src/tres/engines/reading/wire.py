"""How messages go to the reader's process and readings come back.

A message is four bytes of length and that many bytes; tasks (`tres.engines.reading.tasks`) encode
themselves. A reading is in the form of `tres.web.percept_codec`. The process that reads pages of
strangers may have been taken over by one of them, so its readings are data and nothing more.
Whatever is not exactly a reading raises `ValueError`: here every string has a longest length,
every number a range, every URL its canonical form, and every site is that of its URL. The bounds
of what a reading says beside its outcome are in the types of `Reading`. No string holds half of a
surrogate pair, which msgspec's JSON refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import structs

from tres.engines.reading.page_reader import Reading
from tres.web.near_duplicates import BITS
from tres.web.page import Failed, Link, Page
from tres.web.parse import MAX_LINKS, MAX_TEXT_CHARS, MAX_TITLE_CHARS
from tres.web.percept import MAX_ANCHOR_CHARS, MAX_CONTENT_CHARS, NUMERIC, Percept
from tres.web.percept_codec import (
    PERCEPT_TEXT,
    decode_percept,
    encode_percept,
    list_type,
    pack,
    unpack,
)
from tres.web.sitemap import MAX_URLS
from tres.web.url import canonical, host_of

LENGTH_BYTES = 4
MAX_MESSAGE = 1 << 26
LANGUAGE_CHARS = 3


def framed(message: bytes) -> bytes:
    """A message with its length in front."""
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


def length_of(prefix: bytes) -> int:
    """The length of the message that follows."""
    length = int.from_bytes(prefix, "big")
    if length > MAX_MESSAGE:
        raise ValueError("a message is too long")
    return length


def reading_message(reading: Reading) -> bytes:
    """A reading on its way back."""
    kind, outcome, numbers = _encoded(reading.outcome)
    return pack([kind, outcome, [getattr(reading, name) for name in _NOTES]], numbers)


def checked_reading(message: bytes) -> Reading:
    """The reading in a message from an untrusted process; `ValueError` if it is not one."""
    try:
        encoded, numbers = unpack(message)
        kind, outcome, notes = msgspec.json.decode(encoded, type=_MESSAGE)
        reading = Reading(_CHECKED[kind](outcome, numbers), *notes)
        _require(reading.refresh is None or _is_url(reading.refresh))
        _require((reading.fingerprint or 0).bit_length() <= BITS)
    except RecursionError:
        raise ValueError("not a reading: it is nested too deeply") from None
    return reading


def page_values(page: Page) -> list[Any]:
    """A page that is not judged yet, as values that JSON can hold."""
    return [page.url, page.title, page.text, [[link.url, link.anchor] for link in page.links]]


def checked_page(values: Any) -> Page:
    """The page with these values, which come from outside."""
    url, title, text, links = msgspec.convert(values, _PAGE)
    _require(_is_url(url) and all(_is_url(target) for target, _ in links))
    return Page(url, title, text, tuple(Link(*link) for link in links))


def checked_failure(values: Any) -> Failed:
    """The failure with these values, which come from outside."""
    return msgspec.convert(values, Failed)


def _encoded(outcome: Percept | Page | Failed) -> tuple[str, Any, bytes]:
    match outcome:
        case Failed():
            return "failed", asdict(outcome), b""
        case Page():
            return "page", page_values(outcome), b""
    texts, numbers = encode_percept(outcome)
    return "percept", [outcome.content, *texts], numbers


def _checked_percept(encoded: msgspec.Raw, numbers: bytes) -> Percept:
    content, *texts = msgspec.json.decode(encoded, type=_PERCEPT)
    percept = structs.replace(decode_percept(texts, numbers), content=content)
    links, size = percept.links, len(percept.links)
    _require(_is_url(percept.url) and _is_site(percept.site, percept.url))
    _require(0.0 <= percept.relevance <= 1.0 and len(percept.language) <= LANGUAGE_CHARS)
    _require(size <= MAX_LINKS + MAX_URLS and len(links.anchors) == len(set(links.urls)) == size)
    _require(all(map(_is_url, links.urls)) and all(map(_is_site, links.sites, links.urls)))
    _require(max(map(len, links.anchors), default=0) <= MAX_ANCHOR_CHARS)
    for name in NUMERIC:
        column = getattr(links, name)
        _require(bool(((column >= 0) & (column <= 1)).all()))
    return percept


_NOTES = {
    name: kind
    for name, kind in get_type_hints(Reading, include_extras=True).items()
    if name != "outcome"
}
_MESSAGE = list_type(Literal["failed", "page", "percept"], msgspec.Raw, list_type(*_NOTES.values()))
_CHECKED: dict[str, Callable[[msgspec.Raw, bytes], Percept | Page | Failed]] = {
    "failed": lambda encoded, _: checked_failure(msgspec.json.decode(encoded)),
    "page": lambda encoded, _: checked_page(msgspec.json.decode(encoded)),
    "percept": _checked_percept,
}
_PERCEPT = list_type(
    Annotated[str, msgspec.Meta(max_length=MAX_CONTENT_CHARS)],
    *PERCEPT_TEXT,
)
_PAGE = tuple[
    str,
    Annotated[str, msgspec.Meta(max_length=MAX_TITLE_CHARS)],
    Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)],
    Annotated[
        list[tuple[str, Annotated[str, msgspec.Meta(max_length=MAX_ANCHOR_CHARS)]]],
        msgspec.Meta(max_length=MAX_LINKS + MAX_URLS),
    ],
]


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not a reading: a value is out of bounds")


def _is_url(value: str) -> bool:
    return canonical(value) == value


def _is_site(site: str, url: str) -> bool:
    return site != "" and host_of(url).endswith(site)
