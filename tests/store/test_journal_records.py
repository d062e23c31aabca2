"""Records: what was written is what is read, bit for bit; anything else is `DamagedError`."""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tres.store.journal_file import FORMAT
from tres.store.journal_records import (
    TEXTS,
    Begin,
    Blocked,
    DamagedError,
    Demanded,
    Entry,
    Received,
    Seeds,
    decode,
    encode,
)
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept

texts = st.text(st.characters(), max_size=12)  # surrogates, newlines and NUL included
kinds = st.sampled_from([*TEXTS, "other"])
INPUTS = int(os.environ.get("TRES_FUZZ", "200"))
"""Inputs to the fuzzed decoder; TRES_FUZZ=100000 takes some minutes."""


@st.composite
def links(draw: st.DrawFn) -> LinkPercepts:
    count = draw(st.integers(0, 6))

    def column(each: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(each, min_size=count, max_size=count))

    bits = np.array(column(st.integers(0, 2**32 - 1)), np.uint32)
    return LinkPercepts(
        tuple(map(str, column(texts))),
        tuple(map(str, column(texts))),
        np.array(column(st.booleans()), np.bool_),
        np.array(column(st.booleans()), np.bool_),
        bits.view(np.float32),  # any float there is, all kinds of NaN included
    )


percepts = st.builds(Percept, texts, texts, st.floats(), links(), texts)
failures = st.builds(Failed, texts, st.sampled_from(FailureKind), st.booleans())
names = st.lists(texts, max_size=4).map(tuple)
ids = st.sets(st.integers(0, 2**31)).map(lambda chosen: tuple(sorted(chosen)))
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(Seeds, links()),
    st.builds(Begin, st.integers(1), texts),
    st.builds(Demanded, st.integers(0, 64), ids, names),
    st.builds(Received, texts, st.one_of(percepts, failures)),
    st.builds(Blocked, texts),
)


@given(entries)
def test_what_was_written_is_read_bit_for_bit(entry: Entry) -> None:
    read = decode(*encode(entry))
    assert type(read) is type(entry)
    assert encode(read) == encode(entry)
    assert exact(read) == exact(entry)


def exact(entry: Entry) -> object:
    """An entry in which floats are their bits."""
    if isinstance(entry, Seeds):
        return exact_links(entry.links)
    if isinstance(entry, Received) and isinstance(entry.outcome, Percept):
        page = entry.outcome
        bits = struct.pack("<d", page.relevance)
        return entry.asked, page.url, page.site, bits, page.language, exact_links(page.links)
    return entry


def exact_links(held: LinkPercepts) -> object:
    flags = (held.url_keyword, held.anchor_keyword, held.anchor_relevance)
    return held.urls, held.sites, [(column.dtype, column.tobytes()) for column in flags]


@settings(max_examples=INPUTS)
@given(kinds, st.binary(max_size=200))
def test_any_bytes_are_an_entry_or_damaged(kind: str, body: bytes) -> None:
    survives(kind, body)
    survives(kind, zlib.compress(body))
    survives(kind, zlib.compress(struct.pack("<I", len(body) // 2) + body))


@settings(max_examples=INPUTS)
@given(entries, kinds, st.integers(0, 400), st.binary(max_size=3))
@example(Seeds(LinkPercepts((), (), *[np.zeros(0, np.bool_)] * 2, np.zeros(0, np.float32))),
         "page", 0, b"")  # fmt: skip
def test_a_record_with_other_bytes_in_it_is_an_entry_or_damaged(
    entry: Entry, kind: str, at: int, other: bytes
) -> None:
    own, body = encode(entry)
    content = zlib.decompress(body)
    survives(kind, body)
    for bytes_ in (body, content):
        changed = bytes_[:at] + other + bytes_[at + len(other) :]
        survives(own, changed)
        survives(own, zlib.compress(changed))


def survives(kind: str, body: bytes) -> None:
    with suppress(DamagedError):
        decode(kind, body)


@pytest.mark.parametrize("deep", [b"[" * 100_000, b"[1" + b"0" * 5000 + b"]"])
def test_json_that_goes_too_far_is_damaged(deep: bytes) -> None:
    with pytest.raises(DamagedError):
        decode("begin", zlib.compress(struct.pack("<I", len(deep)) + deep))


def test_a_bomb_is_not_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tres.store.journal_records.LARGEST", 100_000)
    bomb = zlib.compress(bytes(1_000_000), 9)
    with pytest.raises(DamagedError, match="cut short"):
        decode("page", bomb)


def test_relevances_of_another_precision_are_a_mistake_of_ours() -> None:
    none = np.zeros(0, np.bool_)
    with pytest.raises(TypeError, match="float64, not float32"):
        encode(Seeds(LinkPercepts((), (), none, none, np.zeros(0, np.float64))))  # type: ignore[arg-type]


LINKS = LinkPercepts(
    ("http://a.example/1", "http://b.example/\ud800"),
    ("a.example", "b.example"),
    np.array([True, False]),
    np.array([True, True]),
    np.array([0.25, 1.0], np.float32),
    ("one", "zwei ü"),
)
PAGE = Percept("http://a.example/", "a.example", 0.1, LINKS, "en")
LINK_TEXT = (
    b'["http://a.example/1","http://b.example/\\ud800"],["a.example","b.example"],'
    b'["one","zwei \\u00fc"]]'
)
LINK_NUMBERS = b"\x03\x02" + struct.pack("<2f", 0.25, 1.0)


@pytest.mark.parametrize(
    ("entry", "text", "numbers"),
    [
        (Seeds(LINKS), b"[" + LINK_TEXT, LINK_NUMBERS),
        (Begin(9, "digest"), b'[9,"digest"]', b""),
        (Demanded(2, (3, 7), ("http://a.example/1",)), b'[2,[3,4],["http://a.example/1"]]', b""),
        (
            Received("http://a.example/0", PAGE),
            b'["http://a.example/0","http://a.example/","a.example","en",' + LINK_TEXT,
            struct.pack("<d", 0.1) + LINK_NUMBERS,
        ),
        (
            Received("a", Failed("b", FailureKind.TIMEOUT, True)),
            b'["a","b","timeout",true]',
            b"",
        ),
        (Blocked("a.example"), b'["a.example"]', b""),
    ],
)
def test_the_bytes_are_those_of_format_3(entry: Entry, text: bytes, numbers: bytes) -> None:
    """A change of these bytes, as by a new column of links, needs a new number of the format."""
    assert FORMAT == 3
    _, body = encode(entry)
    assert zlib.decompress(body) == struct.pack("<I", len(text)) + text + numbers
