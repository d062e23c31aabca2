"""Snappy: the compression inside Parquet pages, as far as reading goes.

A compressed block opens with the length of its content (a varint), then comes a row of
elements. The two lowest bits of an element's first byte say what it is: 0 is a literal
(bytes to take as they are), 1 to 3 are copies (so many bytes from so far back in what
was already written). A copy may reach into what it is writing itself: that is how runs
are stored.

All sizes are checked, so that a damaged block ends in a `ValueError`.
"""

from __future__ import annotations


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, lowest first; and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def decompress(data: bytes) -> bytes:
    """The content of one block."""
    try:
        length, at = varint(data, 0)
        content = bytearray()
        while at < len(data):
            tag = data[at]
            if tag & 3:
                size, distance, at = _copy(data, at)
                _repeat(content, size, distance)
            else:
                size, at = _literal(data, at)
                content += data[at : at + size]
                at += size
    except IndexError:
        raise ValueError("a Snappy block ends too early") from None
    if len(content) != length:
        raise ValueError(f"a Snappy block holds {len(content)} bytes instead of {length}")
    return bytes(content)


def _literal(data: bytes, at: int) -> tuple[int, int]:
    """Length of a literal and where it starts; long ones have 1 to 4 bytes of length."""
    size = data[at] >> 2
    if size < 60:
        return size + 1, at + 1
    start = at + 1 + size - 59
    return int.from_bytes(data[at + 1 : start], "little") + 1, start


def _copy(data: bytes, at: int) -> tuple[int, int, int]:
    """Length and distance of a copy, and the place behind it."""
    tag = data[at]
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at + 1], at + 2
    end = at + 1 + (2 if tag & 3 == 2 else 4)
    return (tag >> 2) + 1, int.from_bytes(data[at + 1 : end], "little"), end


def _repeat(content: bytearray, size: int, distance: int) -> None:
    start = len(content) - distance
    if start < 0 or distance == 0:
        raise ValueError("a Snappy block points outside itself")
    found = content[start : start + size]
    while len(found) < size:  # the copy reaches into itself: a repeating pattern
        found += found[: size - len(found)]
    content += found
