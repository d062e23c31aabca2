"""Every failure has a name."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from OpenSSL import SSL
from scrapy import Request, exceptions
from scrapy.http import Headers, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError, ResponseFailed

from tres.engines.politeness.retry_after import parse_retry_after
from tres.engines.scrapy.capture import CaptureMiddleware, may_be_page, response_head
from tres.engines.scrapy.failures import NOTE_CHARS, RETRYABLE, NamedFailure, name_failure
from tres.engines.scrapy.network_settings import network_settings, user_agent
from tres.engines.scrapy.redirects_and_retries import redirect_target
from tres.errors import ConfigError
from tres.settings.sections import LiveSection
from tres.web.page import FailureKind as Kind

URL = "http://a.example/"
FUZZED = int(os.environ.get("TRES_FUZZ", "60"))


def failed(*reasons: Exception) -> Exception:
    """As Scrapy's handler raises what Twisted has collected."""
    problem = exceptions.DownloadFailedError("failed")
    problem.__cause__ = ResponseFailed([Failure(reason) for reason in reasons])
    return problem


EXPIRED = SSL.Error([("SSL routines", "", "certificate has expired")])
PROBLEMS = [
    (exceptions.DownloadConnectionRefusedError(), Kind.NO_CONNECTION, True, "connection refused"),
    (error.ConnectionRefusedError(), Kind.NO_CONNECTION, True, "connection refused"),
    (exceptions.CannotResolveHostError(), Kind.NO_ADDRESS, True, "no such host"),
    (error.DNSLookupError(), Kind.NO_ADDRESS, True, "no such host"),
    (exceptions.DownloadTimeoutError(), Kind.TIMEOUT, True, "took too long"),
    (error.TimeoutError(), Kind.TIMEOUT, True, "took too long"),
    (error.TCPTimedOutError(), Kind.TIMEOUT, True, "connecting took too long"),
    (exceptions.DownloadCancelledError(), Kind.TOO_LARGE, False, "larger than live.max_bytes"),
    (exceptions.ResponseDataLossError(), Kind.NO_CONNECTION, True, "lost before the end"),
    (exceptions.NotSupported(), Kind.BLOCKED_URL, False, "not http(s)"),
    (exceptions.UnsupportedURLSchemeError(), Kind.BLOCKED_URL, False, "not http(s)"),
    (error.NoRouteError(), Kind.NO_CONNECTION, True, "no route"),
    (error.ConnectError(), Kind.NO_CONNECTION, True, "no connection"),
    (failed(error.ConnectionLost()), Kind.NO_CONNECTION, True, "connection lost"),
    (failed(ParseError("x", b"y")), Kind.MALFORMED, False, "not HTTP"),
    (failed(EXPIRED), Kind.NO_CONNECTION, False, "certificate has expired"),
    (failed(NamedFailure(Kind.TOO_LARGE, "head")), Kind.TOO_LARGE, False, "head"),
    (failed(), Kind.NO_CONNECTION, True, "no whole answer"),
    (exceptions.IgnoreRequest("some middleware"), Kind.BLOCKED_URL, False, "some middleware"),
    (ZeroDivisionError("by\x1b[2J zero"), Kind.UNREADABLE, False, "ZeroDivisionError: by\\x1b[2J"),
]


@pytest.mark.parametrize(("problem", "kind", "retryable", "note"), PROBLEMS)
def test_every_exception_has_a_name(problem, kind, retryable, note):
    for told in (name_failure(URL, problem), name_failure(URL, Failure(problem))):
        assert (told.failed.url, told.failed.kind, told.failed.retryable) == (URL, kind, retryable)
        assert note in told.note


def test_a_named_failure_keeps_its_kind():
    for kind in Kind:
        told = name_failure(URL, NamedFailure(kind, "why"))
        assert (told.failed.kind, told.failed.retryable) == (kind, kind in RETRYABLE)
        assert told.note == "why"
    no_lookup = NamedFailure(Kind.NO_ADDRESS, "x", retryable=True)
    assert name_failure(URL, no_lookup).failed.retryable


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        *(
            (404, Kind.NOT_FOUND, False),
            (410, Kind.NOT_FOUND, False),
            (401, Kind.HTTP_ERROR, False),
        ),
        *((429, Kind.THROTTLED, True), (503, Kind.THROTTLED, True), (500, Kind.HTTP_ERROR, True)),
        *((302, Kind.HTTP_ERROR, False), (999, Kind.HTTP_ERROR, False)),
    ],
)
def test_every_status_has_a_name(status, kind, retryable):
    response = Response(URL, status)
    for told in (name_failure(URL, response), name_failure(URL, HttpError(response))):
        assert (told.failed.kind, told.failed.retryable) == (kind, retryable)
        assert f"HTTP {status}" in told.note


def test_notes_are_short():
    assert len(name_failure(URL, ValueError("x" * 9999)).note) == NOTE_CHARS


def test_retry_after_is_read_as_seconds_and_as_a_date():
    assert parse_retry_after(b"120", 0.0) == 120.0
    assert parse_retry_after(b"Thu, 01 Jan 1970 00:02:00 GMT", 60.0) == 60.0
    assert parse_retry_after(b"Thu, 01 Jan 1970 00:02:00 GMT", 600.0) == 0.0
    assert parse_retry_after(b"soon", 0.0) is None
    assert parse_retry_after(None, 0.0) is None


FIELDS = st.dictionaries(
    st.sampled_from([b"X-A", b"Set-Cookie", b"Content-Encoding", b"Refresh"]),
    st.binary(max_size=40),
)


@settings(max_examples=FUZZED)
@given(st.binary(max_size=60), FIELDS)
def test_no_retry_after_header_raises(value, headers):
    wait = parse_retry_after(value, 0.0)
    assert wait is None or wait >= 0
    response = Response(URL, 302, Headers({**headers, b"Location": value, b"Content-Type": value}))
    try:
        target = redirect_target(URL, response)
    except NamedFailure:
        target = None
    assert target is None or target.startswith("http")
    assert response_head(response).endswith(b"\r\n\r\n")
    assert response_head(response).count(b"\n") == response_head(response).count(b"\r\n")
    page = response.replace(status=200)
    request = Request(URL)
    assert CaptureMiddleware().process_response(request, page) is page
    assert ("tres_exchange" in request.meta) == may_be_page(page)


def test_a_crawl_needs_a_contact():
    with pytest.raises(ConfigError, match=r"live\.contact"):
        network_settings(LiveSection())
    assert network_settings(LiveSection(proxy="http://127.0.0.1:3128"))["USER_AGENT"]
    named_ = LiveSection(contact="http://me.example/", user_agent="Bot/2")
    assert user_agent(named_) == "Bot/2 (+http://me.example/)"
    assert network_settings(named_)["ROBOTSTXT_USER_AGENT"] == "bot"


def test_accept_language_follows_the_languages_that_are_wanted():
    def accepted(languages: list[str]) -> str:
        live = LiveSection(contact="me@example.org", languages=languages)
        headers = network_settings(live)["DEFAULT_REQUEST_HEADERS"]
        assert headers["Accept"].startswith("text/html")
        return headers["Accept-Language"]

    assert accepted([]) == "en"
    assert accepted(["uk"]) == "uk;q=1.0, *;q=0.1"
    assert accepted(["de-AT", "nb"]) == "de;q=1.0, no;q=0.9, *;q=0.1"
