"""A name for every way in which a fetch can fail.

`name_failure` is total: every exception and every response gets a kind, a flag that says whether a
retry could help, and a short note for people. What tres itself refuses is raised as a
`NamedFailure` and has its kind with it; what Scrapy, Twisted and OpenSSL raise is looked up in one
table, from the special to the general. An exception that is not in the table is a failure of the
page too, with its class in the note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from service_identity import CertificateError, VerificationError
from twisted.internet import error
from twisted.python.failure import Failure

from tres.engines.politeness.clock import REFUSALS
from tres.engines.scrapy.internals import ParseError
from tres.errors import printable
from tres.web.page import Failed, FailureKind

NOTE_CHARS = 120


RETRYABLE = frozenset(
    {
        FailureKind.PROXY_UNREACHABLE,
        FailureKind.ROBOTS_UNREACHABLE,
        FailureKind.SITE_DOWN,
        FailureKind.THROTTLED,
    }
)
"""What tres itself refuses for now, but not for good."""


class NamedFailure(IgnoreRequest):
    """A request that tres itself gives up: the kind of the failure, and a note for people."""

    def __init__(self, kind: FailureKind, note: str, retryable: bool | None = None) -> None:
        super().__init__(note)
        self.kind = kind
        self.retryable = kind in RETRYABLE if retryable is None else retryable


@dataclass(frozen=True, slots=True)
class NamedProblem:
    """A failure, and a short note for people."""

    failed: Failed
    note: str


_Row = tuple[type[BaseException] | tuple[type[BaseException], ...], FailureKind, bool, str]
_OWN_MESSAGE = ""

_TABLE: tuple[_Row, ...] = (
    ((VerificationError, CertificateError), FailureKind.NO_CONNECTION, False, "wrong certificate"),
    (SSL.Error, FailureKind.NO_CONNECTION, False, "TLS failed"),
    (DownloadConnectionRefusedError, FailureKind.NO_CONNECTION, True, "connection refused"),
    (error.ConnectionRefusedError, FailureKind.NO_CONNECTION, True, "connection refused"),
    ((CannotResolveHostError, error.DNSLookupError), FailureKind.NO_ADDRESS, True, "no such host"),
    ((DownloadTimeoutError, error.TimeoutError), FailureKind.TIMEOUT, True, "took too long"),
    (error.TCPTimedOutError, FailureKind.TIMEOUT, True, "connecting took too long"),
    (DownloadCancelledError, FailureKind.TOO_LARGE, False, "larger than live.max_bytes"),
    (ResponseDataLossError, FailureKind.NO_CONNECTION, True, "connection lost before the end"),
    ((NotSupported, UnsupportedURLSchemeError), FailureKind.BLOCKED_URL, False, "not http(s)"),
    (error.NoRouteError, FailureKind.NO_CONNECTION, True, "no route to host"),
    (
        (error.ConnectionLost, error.ConnectionDone, ConnectionResetError),
        FailureKind.NO_CONNECTION,
        True,
        "connection lost",
    ),
    (ParseError, FailureKind.MALFORMED, False, "answer is not HTTP"),
    (error.ConnectError, FailureKind.NO_CONNECTION, True, "no connection"),
    (DownloadFailedError, FailureKind.NO_CONNECTION, True, "no whole answer"),
    (IgnoreRequest, FailureKind.BLOCKED_URL, False, _OWN_MESSAGE),
)

_MISSING = frozenset({404, 410})
_THROTTLED = frozenset({429, 503})
RETRY_STATUSES = (408, 500, *sorted(REFUSALS))


def name_failure(url: str, problem: Response | BaseException | Failure) -> NamedProblem:
    """Return the failure of a URL for a response, an exception or a Twisted failure."""
    if isinstance(problem, Response):
        return _name_status(url, problem.status)
    if isinstance(problem, Failure):
        problem = problem.value or RuntimeError("failure without an exception")
    if isinstance(problem, HttpError):
        return _name_status(url, problem.response.status)
    causes = list(_causes(problem))
    for cause in causes:
        if isinstance(cause, NamedFailure):
            return _name(url, cause.kind, cause.retryable, str(cause))
    for kinds, kind, retryable, note in _TABLE:
        for cause in causes:
            if isinstance(cause, kinds):
                return _name(url, kind, retryable, _tls_note(cause) or note or str(cause))
    return _name(url, FailureKind.UNREADABLE, False, f"{type(problem).__name__}: {problem}")


def _name_status(url: str, status: int) -> NamedProblem:
    note = f"HTTP {status}"
    if status in _MISSING:
        return _name(url, FailureKind.NOT_FOUND, False, note)
    if status in _THROTTLED:
        return _name(url, FailureKind.THROTTLED, True, note)
    if status in REFUSALS:  # a gateway without a server behind it
        return _name(url, FailureKind.NO_CONNECTION, True, note)
    if 300 <= status < 400:
        note += " without a target"
    return _name(url, FailureKind.HTTP_ERROR, status in RETRY_STATUSES, note)


def _name(url: str, kind: FailureKind, retryable: bool, note: str) -> NamedProblem:
    return NamedProblem(Failed(url, kind, retryable), printable(note)[:NOTE_CHARS])


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield the exception, its causes, and what Twisted has collected in it."""
    waiting, seen = [problem], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        reasons = getattr(cause, "reasons", None) or ()
        waiting += [r.value for r in reasons if isinstance(r, Failure) and r.value is not None]
        if cause.__cause__ is not None:
            waiting.append(cause.__cause__)


def _tls_note(cause: BaseException) -> str:
    """Return what OpenSSL says, without its numbers: `certificate has expired`."""
    if not isinstance(cause, SSL.Error):
        return ""
    entries = cause.args[0] if cause.args else ()
    words = [str(entry[-1]) for entry in entries if isinstance(entry, tuple) and entry]
    return f"TLS failed: {words[-1]}" if words else ""
