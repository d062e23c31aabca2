"""Parquet, as much of it as a list of words needs: one column of text, without gaps.

A word list is a small thing, and a library that reads all of Parquet is larger than the
rest of tres together. So this reads the one shape that a word list has, and refuses
everything else by a `ValueError`:

    PAR1  pages ...  description (Thrift, compact protocol)  its length  PAR1

The description says where the column's pages lie. A page is a header, again in Thrift,
and a body that may be compressed with Snappy. First comes a page with a dictionary of
values, then pages of numbers into that dictionary (runs and packed bits, mixed); when
the dictionary has grown too large, writers go over to pages of plain values. A plain
value is its length in four bytes and then its bytes, in UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.topic.snappy import decompress, varint

MAGIC = b"PAR1"
BYTE_ARRAY, UNCOMPRESSED, SNAPPY = 6, 0, 1
DATA_PAGE, DICTIONARY_PAGE = 0, 2
PLAIN, DICTIONARY_ENCODINGS = 0, (2, 8)

DAMAGED = (LookupError, RecursionError, TypeError, UnicodeDecodeError, struct.error)
"""How a description shows that it is not one: fields missing, too short or of other types."""

Struct = dict[int, Any]
"""A Thrift structure: its values by field number. The numbers are those of the format's
definition, parquet.thrift; each place that uses one says its name."""


def read_text_column(content: bytes) -> list[str]:
    """All values of a file with a single column of text."""
    try:
        return [value.decode() for chunk in _chunks(content) for value in _values(content, chunk)]
    except DAMAGED as problem:
        raise ValueError(f"the Parquet file is damaged ({problem!r})") from None


def _chunks(content: bytes) -> Iterator[Struct]:
    """The description of the column, once for each group of rows."""
    if content[:4] != MAGIC or content[-4:] != MAGIC:
        raise ValueError("this is no Parquet file")
    (length,) = struct.unpack("<I", content[-8:-4])
    description, _ = _struct(content, len(content) - 8 - length)
    for group in description[4]:  # row_groups
        columns = group[1]
        if len(columns) != 1 or columns[0][3][1] != BYTE_ARRAY:  # meta_data.type
            raise ValueError("the Parquet file holds more than one column of text")
        yield columns[0][3]


def _values(content: bytes, column: Struct) -> list[bytes]:
    """The values of one column chunk, page by page."""
    at = min(column[n] for n in (9, 11) if column.get(n))  # data and dictionary page offset
    dictionary: list[bytes] = []
    values: list[bytes] = []
    while len(values) < column[5]:  # num_values
        header, at = _struct(content, at)
        body = _body(content[at : at + header[3]], column[4])  # compressed_page_size, codec
        at += max(0, header[3])  # never back
        if header[1] == DICTIONARY_PAGE:
            dictionary = _plain(body, header[7][1])  # dictionary_page_header.num_values
        elif header[1] == DATA_PAGE:
            values += _page(body, header[5], dictionary)  # data_page_header
        else:
            raise ValueError(f"the Parquet file has pages of type {header[1]}")
    return values


def _body(stored: bytes, codec: int) -> bytes:
    if codec not in (UNCOMPRESSED, SNAPPY):
        raise ValueError(f"the Parquet file is compressed by method {codec}")
    return decompress(stored) if codec == SNAPPY else stored


def _page(body: bytes, header: Struct, dictionary: list[bytes]) -> list[bytes]:
    """Which values are there (all of them must be), then the values."""
    count, encoding = header[1], header[2]
    (length,) = struct.unpack_from("<I", body)
    present = _numbers(body[4 : 4 + length], 1, count)
    if not present.all():
        raise ValueError("the Parquet file has gaps in its column")
    body = body[4 + length :]
    if encoding == PLAIN:
        return _plain(body, count)
    if encoding not in DICTIONARY_ENCODINGS:
        raise ValueError(f"the Parquet file encodes values by method {encoding}")
    return [dictionary[i] for i in _numbers(body[1:], body[0], count)]


def _plain(body: bytes, count: int) -> list[bytes]:
    values, at = [], 0
    for _ in range(count):
        (length,) = struct.unpack_from("<I", body, at)
        at += 4 + length
        values.append(body[at - length : at])
    return values


def _numbers(data: bytes, width: int, count: int) -> NDArray[np.int64]:
    """Runs (a number and how often) mixed with groups of eight packed numbers."""
    parts: list[NDArray[np.int64]] = []
    at = found = 0
    while found < count:
        kind, at = varint(data, at)
        size = (kind >> 1) * width if kind & 1 else (width + 7) // 8
        if kind & 1:
            bits = np.unpackbits(np.frombuffer(data[at : at + size], np.uint8), bitorder="little")
            parts.append(bits.reshape(-1, width) @ (1 << np.arange(width)))
        else:
            value = int.from_bytes(data[at : at + size], "little")
            parts.append(np.full(min(kind >> 1, count - found), value, np.int64))
        if len(parts[-1]) == 0:
            raise ValueError("the Parquet file has an empty run")
        at += size
        found += len(parts[-1])
    return np.concatenate(parts)[:count] if parts else np.zeros(0, np.int64)


# Thrift's compact protocol


def _struct(data: bytes, at: int) -> tuple[Struct, int]:
    """A structure and the place behind it."""
    values: Struct = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        values[number], at = _value(data, at, head & 15)
    return values, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:
            found: tuple[Any, int] = kind == 1, at
        case 4 | 5 | 6:
            found = _integer(data, at)
        case 8:
            length, at = varint(data, at)
            found = data[at : at + length], at + length
        case 9 | 10:
            found = _list(data, at)
        case 12:
            found = _struct(data, at)
        case _:
            raise ValueError(f"the Parquet file describes itself by type {kind}")
    return found


def _list(data: bytes, at: int) -> tuple[list[Any], int]:
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = varint(data, at)
    values = []
    for _ in range(size):
        value, at = _value(data, at, kind)
        values.append(value)
    return values, at


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """A signed number: zigzag, so that small negative ones stay short."""
    value, at = varint(data, at)
    return value >> 1 ^ -(value & 1), at
