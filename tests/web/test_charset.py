"""Bytes to text: claims about the encoding are candidates, not facts."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed
from webencodings.labels import LABELS

from tres.web.charset import decode_page, encoding_of

CAFE = "<p>Café, naïve, déjà vu</p>"


def text_of(body: bytes, hint: str | None = None) -> str:
    read = decode_page(body, hint)
    assert read is not None
    return read.text


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (CAFE.encode(), None),
        (CAFE.encode(), "utf-8"),
        (CAFE.encode(), "no-such-charset"),
        (CAFE.encode(), "punycode"),
        (CAFE.encode("cp1252"), None),
        (CAFE.encode("latin-1"), "ISO-8859-1"),
        (CAFE.encode("cp1252"), "us-ascii"),
        (CAFE.encode("utf-16-le"), "utf-16le"),
        (codecs.BOM_UTF8 + CAFE.encode(), "iso-8859-1"),
        (codecs.BOM_UTF16_BE + CAFE.encode("utf-16-be"), None),
    ],
)
def test_the_first_claim_that_fits_is_taken(body, hint):
    assert text_of(body, hint) == CAFE


@pytest.mark.parametrize("claimed", ["utf-8", "utf-16", "shift_jis"])
def test_a_wrong_charset_in_the_header_is_ignored(claimed):
    assert text_of(CAFE.encode("cp1252"), claimed) == CAFE


def test_the_meta_element_counts_without_a_charset_in_the_header():
    page = '<meta charset="koi8-r"><p>Привет</p>'
    assert text_of(page.encode("koi8-r")) == page
    page = '<META http-equiv=Content-Type content="text/html; charset=windows-1251">Привет'
    assert text_of(page.encode("cp1251")) == page


def test_one_broken_character_does_not_change_the_encoding():
    assert text_of(CAFE.encode() + b"\xff") == CAFE + "\ufffd"


@pytest.mark.parametrize(
    ("body", "hint", "encoding"),
    [
        (CAFE.encode(), None, "utf-8"),
        (CAFE.encode("latin-1"), "iso-8859-1", "cp1252"),
        (CAFE.encode("cp1252"), "utf-8", "cp1252"),
        (CAFE.encode("utf-16-le"), "utf-16le", "utf-8"),
        (codecs.BOM_UTF8 + CAFE.encode(), "iso-8859-1", "utf-8"),
        ("<p>Привет".encode("koi8-r"), "koi8-r", "koi8-r"),
    ],
)
def test_links_are_written_in_the_encoding_of_the_page_or_in_utf_8(body, hint, encoding):
    read = decode_page(body, hint)
    assert read is not None
    assert read.encoding == encoding


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("latin1", "cp1252"),
        ('"UTF-8"', "utf-8"),
        ("gb2312", "gb18030"),
        ("Shift_JIS", "cp932"),
        (" windows-874\t", "cp874"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("iso-8859-8-i", "iso8859-8"),
        ("unicode", "utf-16-le"),
        ("iso-2022-kr", None),
        ("iso8859_1", None),
        ("unicode_escape", None),
        ("rot13", None),
        ("base64", None),
        ("\0", None),
        ("", None),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label, encoding):
    assert encoding_of(label) == encoding


def test_every_label_of_the_standard_is_known():
    unused = {"replacement", "x-user-defined"}
    assert len(LABELS) == 228
    for label, name in LABELS.items():
        assert (encoding_of(label) is None) == (name in unused)


def test_binary_data_is_not_text():
    noise = random.Random(1).randbytes(20_000)
    assert decode_page(noise, "utf-8") is None
    assert decode_page(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02" + noise) is None
    assert decode_page(b"text with many\0\0\0\0 NULs") is None


@fuzzed
@given(st.binary(), st.none() | st.text())
def test_decoding_never_raises(body, hint):
    read = decode_page(body, hint)
    assert read is None or read.text.encode().decode() == read.text
    assert read is None or not "a".encode(read.encoding).startswith(codecs.BOM_UTF8)
