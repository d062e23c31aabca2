"""What the reader's process does beside reading pages, and how its answers are checked."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import encode
from tests.support.fuzz import fuzzed
from tests.support.reading import reader

from tres.engines.reading.child import BUG
from tres.engines.reading.decompress import DecompressError
from tres.engines.reading.page_reader import Reading
from tres.engines.reading.tasks import Decompress, ReadSitemap, perform
from tres.engines.reading.wire import reading_message
from tres.web.page import Failed, FailureKind
from tres.web.sitemap import MAX_URLS, Sitemap

URL = "http://a.example/sitemap.xml"
LISTED = b"<urlset><loc>http://a.example/1</loc><loc>http://b.example/2</loc></urlset>"


def sitemap(body: bytes, *encodings: str) -> ReadSitemap:
    return ReadSitemap(URL, body, encodings, "host")


def done(task: ReadSitemap | Decompress) -> Sitemap | bytes | DecompressError:
    return task.decode(perform(reader(), task.message()))


def test_no_reading_is_taken_for_a_bug_of_the_reader():
    failed = Failed(URL, FailureKind.UNREADABLE)
    messages = [reading_message(Reading(failed, title="x" * chars)) for chars in range(256)]
    assert len({message[0] for message in messages}) == 256  # a length comes first
    assert not any(message.startswith(BUG) for message in messages)


def test_a_sitemap_is_decompressed_and_read_there():
    found = Sitemap(("http://a.example/1",))
    assert done(sitemap(LISTED)) == found
    assert done(sitemap(gzip.compress(LISTED), "gzip")) == found
    assert done(sitemap(b"\xff", "gzip")) == Sitemap()
    assert sitemap(b"").failed("why") == Sitemap()


def test_a_body_is_decompressed_there_or_the_failure_is_named():
    packed = gzip.compress(b"line\n" * 10)
    assert done(Decompress(URL, packed, ("gzip",), 50)) == b"line\n" * 10
    assert done(Decompress(URL, packed, ("gzip",), 7, truncate=True)) == b"line\nli"
    large = done(Decompress(URL, packed, ("gzip",), 49))
    assert isinstance(large, DecompressError)
    assert (large.kind, str(large)) == (
        FailureKind.TOO_LARGE,
        "larger than live.max_bytes when unpacked",
    )
    failed = Decompress(URL, packed, ("gzip",), 49).failed("why")
    assert (failed.kind, str(failed)) == (FailureKind.UNREADABLE, "why")


@pytest.mark.parametrize(
    "answer",
    [
        [[], [], []],
        {"pages": []},
        [["HTTP://A.example/"], []],
        [[1], []],
        [["http://a.example/"] * (MAX_URLS + 1), []],
        [[], None],
    ],
)
def test_an_answer_without_canonical_urls_is_refused(answer):
    with pytest.raises(ValueError, match=r"."):
        sitemap(b"").decode(encode(answer))


@pytest.mark.parametrize(
    "answer",
    [b"12345678", ["invented", ""], ["timeout", 1], ["site-down", "not of a body"], [], "text"],
)
def test_an_answer_without_a_body_is_refused(answer):
    with pytest.raises(ValueError, match=r"."):
        Decompress(URL, b"", (), 7).decode(encode(answer))


@fuzzed
@given(st.binary() | st.text().map(lambda text: encode([text, [text]])))
def test_an_answer_causes_no_error_but_a_value_error(answer):
    for task in (sitemap(b""), Decompress(URL, b"", (), 7)):
        with suppress(ValueError):
            task.decode(answer)
