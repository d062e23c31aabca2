"""Robots.txt never waits for itself, whatever becomes of the requests for it."""

from __future__ import annotations

import pytest
from tests.support.http_server import Request, response, serving

from tres.engines.scrapy.network_settings import MIDDLEWARES

from .fetching import fetch


def answer(asked: Request) -> bytes:
    if asked.path == "/robots.txt" and asked.address == "127.0.0.2":
        return response(b"", "302 Found", Location="/rules")
    if asked.path in ("/robots.txt", "/rules"):
        return response(b"User-agent: *\nDisallow: /no\n", Content_Type="text/plain")
    return response()


@pytest.fixture(scope="module")
def told():
    middlewares = {**MIDDLEWARES, "tests.engines.network.interfering_middlewares.ForgetsMeta": 50}
    with serving(answer, "127.0.0.1", "127.0.0.2") as web:
        known, unknown = [web.url("/yes"), web.url("/no")], web.url("/yes", "127.0.0.2")
        limits = {"settings": {"DOWNLOADER_MIDDLEWARES": middlewares}, "allow": ["127.0.0.0/8"]}
        # only what never comes is waited for in vain: a busy server may need more than a second
        result = fetch(known, robots=True, **limits)["told"]
        result |= fetch([unknown], robots=True, timeout=1.0, **limits)["told"]
        return [result[url] for url in (*known, unknown)]


def test_a_request_for_robots_txt_is_known_by_its_url(told):
    assert told[0]["status"] == 200
    assert told[1]["kind"] == "robots-denied"


def test_a_lost_request_for_robots_txt_times_out(told):
    assert told[2]["kind"] == "robots-unreachable"
