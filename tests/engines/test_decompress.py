"""Bodies are unpacked within limits of size and of work."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
from scrapy.utils._compression import zstd

from tres.engines.reading.decompress import (
    MAX_PARTS,
    DecompressError,
    content_encodings,
    decompress,
)
from tres.web.page import FailureKind

BODY = b"".join(b"<p>paragraph %d" % number for number in range(3_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize("name", PACKERS)
def test_every_encoding_that_servers_use_is_decompressed(name: str) -> None:
    assert decompress(PACKERS[name](BODY), [name], len(BODY)) == BODY
    assert decompress(PACKERS[name](b""), [name], 9) == b""


def test_encodings_are_undone_from_the_last_to_the_first() -> None:
    twice = gzip.compress(brotli.compress(BODY))
    assert decompress(twice, content_encodings(["br, identity", "GZIP"]), len(BODY)) == BODY
    assert decompress(gzip.compress(b"x"), ["aws-chunked", "gzip"], 9) == b"x"
    assert decompress(raw_deflate(BODY), ["deflate"], len(BODY)) == BODY


@pytest.mark.parametrize("name", PACKERS)
def test_more_bytes_than_allowed_fail_or_are_cut(name: str) -> None:
    packed = PACKERS[name](BODY)
    with pytest.raises(DecompressError) as problem:
        decompress(packed, [name], len(BODY) - 1)
    assert problem.value.kind is FailureKind.TOO_LARGE
    assert decompress(packed, [name], 1_000, truncate=True) == BODY[:1_000]


@pytest.mark.parametrize("name", PACKERS)
def test_a_body_that_is_not_compressed_as_its_header_says_is_malformed(name: str) -> None:
    with pytest.raises(DecompressError) as problem:
        decompress(b"\xff" * 99, [name], 1_000)
    assert problem.value.kind is FailureKind.MALFORMED


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_half_a_body_is_decompressed_as_far_as_it_goes(name: str) -> None:
    packed = PACKERS[name](BODY)
    found = decompress(packed[: len(packed) // 2], [name], len(BODY))
    assert 0 < len(found) < len(BODY)
    assert BODY.startswith(found)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_parts_are_joined_up_to_a_limit(name: str) -> None:
    part = PACKERS[name](b"ab")
    assert decompress(part * MAX_PARTS, [name], 1_000) == b"ab" * MAX_PARTS
    empty = bytes.fromhex("502a4d18 00000000") if name == "zstd" else gzip.compress(b"")
    for many in (part * (MAX_PARTS + 1), empty * 100_000):
        with pytest.raises(DecompressError, match=f"in more than {MAX_PARTS} parts"):
            decompress(many, [name], 1_000)


def test_what_follows_the_last_gzip_member_is_ignored() -> None:
    assert decompress(gzip.compress(b"a") + b"\0\0 and more", ["gzip"], 99) == b"a"


def test_a_body_may_be_compressed_twice() -> None:
    with pytest.raises(DecompressError, match="more than 2 times"):
        decompress(b"", ["gzip"] * 3, 99)
