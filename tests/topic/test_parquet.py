"""The word list of a package: one column of text in a Parquet file."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.topic.parquet import read_text_column
from tres.topic.snappy import decompress
from tres.topic.vector_packages import INDEX, _pip_file


def test_the_real_word_list_is_read_through_dictionary_and_plain_pages():
    words = read_text_column(_pip_file(INDEX).read_bytes())

    assert words[:10] == ["the", ",", ".", "of", "to", "and", "in", "a", '"', "'s"]
    assert words[-1] == "sandberger"
    assert len(words) == len(set(words)) == 400_000


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 3, b"not a Parquet file at all"])
def test_what_is_no_parquet_file_is_refused(content):
    with pytest.raises(ValueError, match="Parquet"):
        read_text_column(content)


def text_file(page: bytes, count: int) -> bytes:
    """An uncompressed file with one page of a text column, written by hand."""
    header = struct.pack("<B", 0x15) + varint(0) + b"\x15" + varint(len(page) * 2)
    header += b"\x15" + varint(len(page) * 2)
    header += b"\x2c" + b"\x15" + varint(count * 2) + b"\x15\x00\x15\x06\x15\x06\x00\x00"
    meta = b"\x15\x0c" + b"\x19\x05" + b"\x19\x08" + b"\x15\x00" + b"\x16" + varint(count * 2)
    meta += b"\x46" + varint(4 * 2) + b"\x00"  # data_page_offset: behind the magic
    group = b"\x19\x1c" + b"\x3c" + meta + b"\x00" + b"\x00"
    footer = b"\x49\x1c" + group + b"\x00"
    return b"PAR1" + header + page + footer + struct.pack("<I", len(footer)) + b"PAR1"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def levels(run: bytes) -> bytes:
    return struct.pack("<I", len(run)) + run


def plain(*values: bytes) -> bytes:
    return b"".join(struct.pack("<I", len(value)) + value for value in values)


def test_a_file_written_by_hand():
    page = levels(b"\x04\x01") + plain(b"gene", "\u00e9vo".encode())  # a run: twice "present"

    assert read_text_column(text_file(page, 2)) == ["gene", "\u00e9vo"]


def test_a_column_with_a_gap_is_refused():
    page = levels(b"\x03\x01") + plain(b"gene")  # packed bits: present, absent

    with pytest.raises(ValueError, match="gaps"):
        read_text_column(text_file(page, 2))


def test_a_damaged_file_is_refused_and_nothing_worse():
    whole = text_file(levels(b"\x04\x01") + plain(b"gene", b"cell"), 2)
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            with suppress(ValueError):
                read_text_column(bytes(damaged))


# Snappy


def test_a_snappy_block_with_literals_and_copies():
    literal, copy_back, run = b"\x0cabcd", b"\x01\x04", b"\x0a\x01\x00"
    block = varint(11) + literal + copy_back + run  # abcd, 4 bytes from 4 back, 3 from 1 back

    assert decompress(block) == b"abcdabcdddd"


def test_a_long_literal_has_its_length_in_the_next_bytes():
    content = bytes(range(256)) * 4

    assert decompress(varint(1024) + b"\xf4" + struct.pack("<H", 1023) + content) == content


@given(st.binary(max_size=60))
def test_a_damaged_snappy_block_is_refused_and_nothing_worse(block):
    with suppress(ValueError):
        decompress(block)
