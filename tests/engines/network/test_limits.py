"""A server can send what it likes: it costs a page, within limits of time, bytes and hops."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable

import brotli
import pytest
from tests.engines.network.fetching import fetch
from tests.support.http_server import Request, drip, response, serving

MAX_BYTES = 200_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def zeros(size: int) -> bytes:
    """A gzip of so many zeros, made without having them."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    return packed.getvalue()


def zstandard(body: bytes) -> bytes:
    from scrapy.utils._compression import zstd

    return zstd.compress(body)


BOMB = zeros(64 << 20)
BODIES = {
    "/good": response(gzip.compress(b"<html>good"), Content_Encoding="gzip"),
    "/brotli": response(brotli.compress(b"<html>good"), Content_Encoding="br"),
    "/zstd": response(zstandard(b"<html>good"), Content_Encoding="zstd"),
    "/gzip-bomb": response(BOMB, Content_Encoding="gzip"),
    "/nested-bomb": response(gzip.compress(BOMB), Content_Encoding="gzip, gzip"),
    "/deflate-bomb": response(zlib.compress(bytes(4 << 20)), Content_Encoding="deflate"),
    "/brotli-bomb": response(brotli.compress(bytes(4 << 20)), Content_Encoding="br"),
    "/zstd-bomb": response(zstandard(bytes(4 << 20)), Content_Encoding="zstd"),
    "/matryoshka": response(gzip.compress(b"x"), Content_Encoding=", ".join(["gzip"] * 500)),
    "/not-gzip": response(b"<html>plain", Content_Encoding="gzip"),
    "/half-gzip": response(gzip.compress(b"x")[:5], Content_Encoding="gzip"),
    "/many-frames": response(
        gzip.compress(bytes.fromhex("502a4d18 00000000") * 20_000), Content_Encoding="zstd, gzip"
    ),
    "/not-brotli": response(b"\xff" * 99, Content_Encoding="br"),
    "/not-zstd": response(b"\xff" * 99, Content_Encoding="zstd"),
    "/declared": HEAD + b"Content-Length: 99999999999\r\n\r\n",
    "/no-http": b"220 ftp.example ready\r\n" + b"\r\n" * 3,
    "/bad-length": HEAD + b"Content-Length: -7\r\n\r\n",
    "/missing": response(b"", "404 Not Found"),
    "/gone": response(b"", "410 Gone"),
    "/busy": response(b"", "503 Service Unavailable"),
    "/many": response(b"", "429 Too Many Requests"),
    "/teapot": response(b"", "418 Teapot"),
    "/odd-status": response(b"", "799 What"),
}
REDIRECTS = {
    "/loop-a": "/loop-b",
    "/loop-b": "/loop-a",
    "/self": "/self",
    "/to-file": "file:///etc/passwd",
    "/to-data": "data:text/html,hello",
    "/to-javascript": "javascript:alert(1)",
    "/to-ftp": "ftp://127.0.0.1/",
    "/to-garbage": "http://[half",
    "/to-port": "http://127.0.0.1:99999/",
    "/to-user": "http://user:secret@127.0.0.1/",
    "/to-good": "/good",
    "/to-nothing": "",
}


def answer(asked: Request) -> bytes | Iterable[bytes]:
    path = asked.path
    if path in BODIES:
        return BODIES[path]
    if path in REDIRECTS:
        return response(b"", "302 Found", Location=REDIRECTS[path])
    if path.startswith("/ever/"):
        return response(b"", "301 Moved", Location=path + "x")
    return STREAMS.get(path, response)()


STREAMS = {
    "/endless": lambda: chain(HEAD + b"\r\n", drip(bytes(50_000))),
    "/endless-chunks": lambda: chain(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", drip(b"1000\r\n" + bytes(4096) + b"\r\n")
    ),
    "/slow": lambda: chain(HEAD + b"\r\n", drip(b"x", 0.2)),
    "/slow-head": lambda: chain(HEAD, drip(b"X-Header: again\r\n", 0.2)),
    "/endless-head": lambda: chain(HEAD, drip(b"X-Header: again and again\r\n" * 100)),
    "/endless-line": lambda: chain(HEAD + b"X-Header: ", drip(bytes(50_000))),
    "/endless-continue": lambda: drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "/silence": lambda: drip(b"", 0.2),
    "/reset": lambda: [],
    "/cut": lambda: [HEAD + b"Content-Length: 1000\r\n\r\n<html>"],
}


def chain(first: bytes, rest: Iterable[bytes]) -> Iterable[bytes]:
    yield first
    yield from rest


EXPECTED = {
    **dict.fromkeys(("/gzip-bomb", "/nested-bomb", "/deflate-bomb", "/brotli-bomb"), "too-large"),
    **dict.fromkeys(("/zstd-bomb", "/declared", "/endless", "/endless-chunks"), "too-large"),
    **dict.fromkeys(("/endless-head", "/endless-continue"), "too-large"),
    **dict.fromkeys(("/matryoshka", "/not-gzip", "/many-frames", "/not-brotli"), "malformed"),
    **dict.fromkeys(("/not-zstd", "/no-http"), "malformed"),
    **dict.fromkeys(("/slow", "/slow-head", "/silence"), "timeout"),
    **dict.fromkeys(("/reset", "/cut", "/endless-line"), "no-connection"),
    **dict.fromkeys(("/loop-a", "/self", "/ever/"), "redirect-loop"),
    **dict.fromkeys(("/to-file", "/to-data", "/to-javascript", "/to-ftp"), "blocked-url"),
    **dict.fromkeys(("/to-garbage", "/to-port", "/to-user"), "blocked-url"),
    **dict.fromkeys(("/missing", "/gone"), "http-404"),
    **dict.fromkeys(("/busy", "/many"), "throttled"),
    **dict.fromkeys(("/teapot", "/odd-status", "/to-nothing"), "http-error"),
}


GOOD = "127.0.0.1"
APART = {
    path: f"127.0.1.{n}"
    for n, path in enumerate(["/busy", "/many", *STREAMS, *(p for p in BODIES if "bomb" in p)], 1)
}
"""Failures of a server add up, and so does the time that its pages take to be unpacked: together
these would put a site to rest, and others with it."""


@pytest.fixture(scope="module")
def limited():
    with serving(answer, GOOD, *APART.values()) as web:
        paths = [*BODIES, *REDIRECTS, *STREAMS, "/ever/"]
        urls = {path: web.url(path, APART.get(path, GOOD)) for path in paths}
        limits = {"timeout": 5.0, "max_bytes": MAX_BYTES, "redirects": 5}
        result = fetch(urls.values(), allow=["127.0.0.0/8"], **limits)
        told = {path: result["told"].get(url, {}) for path, url in urls.items()}
        yield told, web, result


@pytest.mark.parametrize("path", EXPECTED)
def test_each_misbehaviour_of_a_server_has_its_failure_kind(limited, path):
    assert limited[0][path].get("kind") == EXPECTED[path], limited[0][path]


@pytest.mark.parametrize("path", ["/good", "/brotli", "/zstd", "/to-good"])
def test_good_pages_arrive(limited, path):
    assert limited[0][path]["text"] == "<html>good"


def test_every_request_ends_in_a_page_or_a_failure(limited):
    assert all(limited[0].values())


def test_redirects_are_followed_up_to_their_limit(limited):
    _, web, _ = limited
    assert sum(path.startswith("/ever/") for path in web.paths()) == 6


def test_no_credentials_and_no_cookies_and_no_referrers_are_ever_sent(limited):
    sent = {name for asked in limited[1].requests for name in map(str.lower, asked.headers)}
    assert sent == {"accept", "accept-language", "accept-encoding", "host", "user-agent"}


def test_the_exchange_is_kept_as_it_was_sent(limited):
    exchange = limited[0]["/good"]["exchange"]
    assert exchange["size"] == len(gzip.compress(b"<html>good"))
    assert exchange["response"].startswith("HTTP/1.1 200 OK\r\n")
    assert "Content-Encoding: gzip\r\n" in exchange["response"]
    assert exchange["response"].endswith("\r\n\r\n")
    assert exchange["request"].startswith("GET /good HTTP/1.1\r\nHost: 127.0.0.1")
    assert exchange["address"] == "127.0.0.1"
    assert "exchange" not in limited[0]["/missing"]


def test_memory_stays_bounded(limited):
    assert limited[2]["peak_mb"] < 250
