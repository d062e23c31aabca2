"""Percepts as bytes: one codec for the reader's process and for the journal.

    length of the text (4 bytes) | text: a JSON list | numbers

The layout follows from the fields of `Percept` and `LinkPercepts`. Strings are in the list, first
those of the page, then the columns of its links. Behind it are the numbers as they lie in memory,
so that they survive to the last bit: those of the page as doubles, then a byte per link whose bits
are the columns of flags, then the columns of numbers as 32-bit floats. Callers put more into the
list: what a record of the journal or an answer of the reader says beside the percept. The content
of a page goes its own way: most percepts have none.

Decoding trusts nothing: whatever the bytes are, the result is a percept whose columns agree, or
`ValueError`. What a percept *says* is not checked here: a journal returns what it was given, and
the answers of the reader's process have bounds of their own (`tres.engines.reading.wire`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from tres.web.percept import Flags, Floats, LinkPercepts, Percept

Strings = tuple[str, ...]


def _fields(record: type[msgspec.Struct], kind: object) -> list[str]:
    return [field.name for field in msgspec.structs.fields(record) if field.type == kind]


_TEXTS = [name for name in _fields(Percept, str) if name != "content"]
_NUMBERS = _fields(Percept, float)
_LINK_TEXTS = _fields(LinkPercepts, Strings)
_LINK_FLAGS, _LINK_NUMBERS = _fields(LinkPercepts, Flags), _fields(LinkPercepts, Floats)

LINKS_TEXT: tuple[Any, ...] = (Strings,) * len(_LINK_TEXTS)
"""The types in the list for links alone, and for a percept."""
PERCEPT_TEXT: tuple[Any, ...] = (*(str,) * len(_TEXTS), *LINKS_TEXT)
LINK_URLS = len(_TEXTS) + _LINK_TEXTS.index("urls")
"""Where a percept's list has the URLs of its links."""

_texts_of, link_texts = attrgetter(*_TEXTS), attrgetter(*_LINK_TEXTS)
"""Return the strings of a percept, and the columns of strings of its links."""
_JSON = json.JSONEncoder(separators=(",", ":"))
_LENGTH = struct.Struct("<I")
_PAGE_NUMBERS = struct.Struct(f"<{len(_NUMBERS)}d")
_FLOAT32 = np.dtype(np.float32)
_LINK_BYTES = 1 + 4 * len(_LINK_NUMBERS)


def list_type(*kinds: Any) -> Any:
    """The type of a JSON list with a value of each of these types, for `parse`."""
    return tuple.__class_getitem__(kinds)


def pack(text: Sequence[object], numbers: bytes = b"") -> bytes:
    """Join a list that JSON can hold and bytes behind it."""
    encoded = _JSON.encode(text).encode()
    return b"".join((_LENGTH.pack(len(encoded)), encoded, numbers))


def unpack(content: bytes) -> tuple[bytes, bytes]:
    """The encoded list and the bytes behind it."""
    if len(content) < _LENGTH.size:
        raise ValueError("it is too short")
    (length,) = _LENGTH.unpack_from(content)
    end = _LENGTH.size + length
    return content[_LENGTH.size : end], content[end:]


def parse(encoded: bytes, kind: Any) -> Any:
    """The encoded list as a value of a type; `ValueError` if it is not one."""
    try:
        return msgspec.json.decode(encoded, type=kind)
    except msgspec.DecodeError:  # half of a surrogate pair: only Python's own JSON reads it
        return msgspec.convert(json.loads(encoded), kind)


def encode_percept(percept: Percept) -> tuple[list[str | Strings], bytes]:
    """The strings and the numbers of a percept."""
    texts, columns = encode_links(percept.links)
    numbers = _PAGE_NUMBERS.pack(*[getattr(percept, name) for name in _NUMBERS])
    return [*_texts_of(percept), *texts], numbers + columns


def decode_percept(texts: Sequence[Any], numbers: bytes) -> Percept:
    """The percept with these strings, of the types `PERCEPT_TEXT`, and these numbers."""
    if len(numbers) < _PAGE_NUMBERS.size:
        raise ValueError("its numbers are incomplete")
    own = dict(zip(_TEXTS, texts, strict=False))
    own |= zip(_NUMBERS, _PAGE_NUMBERS.unpack_from(numbers), strict=True)
    return Percept(**own, links=decode_links(texts[len(_TEXTS) :], numbers[_PAGE_NUMBERS.size :]))


def encode_links(links: LinkPercepts) -> tuple[list[Strings], bytes]:
    """The strings and the numbers of links."""
    flags, *others = [getattr(links, name).view(np.uint8) for name in _LINK_FLAGS]
    for bit, column in enumerate(others, start=1):
        flags = flags | (column << bit)
    numbers = b"".join((flags.tobytes(), *(_float32(getattr(links, n)) for n in _LINK_NUMBERS)))
    if len(numbers) != _LINK_BYTES * len(links):
        raise ValueError("the columns of links differ in length")
    return list(link_texts(links)), numbers


def decode_links(texts: Sequence[Strings], numbers: bytes) -> LinkPercepts:
    """The links with these strings and these numbers; a percept may leave out the anchors."""
    columns: dict[str, Any] = dict(zip(_LINK_TEXTS, texts, strict=True))
    count = len(columns["urls"])
    lengths = {len(column) for name, column in columns.items() if column or name != "anchors"}
    if lengths != {count} or len(numbers) != _LINK_BYTES * count:
        raise ValueError("its links are incomplete")
    flags = np.frombuffer(numbers, np.uint8, count)
    for bit, name in enumerate(_LINK_FLAGS):
        columns[name] = (flags & (1 << bit)).astype(np.bool_)
    for place, name in enumerate(_LINK_NUMBERS):
        start = count * (1 + 4 * place)
        columns[name] = np.frombuffer(numbers, "<f4", count, start).astype(np.float32)
    return LinkPercepts(**columns)


def _float32(column: Floats) -> bytes:
    if column.dtype != _FLOAT32:
        raise TypeError(f"a column of links is {column.dtype}, not float32")
    return column.astype("<f4", copy=False).tobytes()
