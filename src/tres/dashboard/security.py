"""The guard in front of the dashboard: which requests are answered.

A site that makes a user's browser send requests must gain nothing by it. Therefore:

- the name in the `Host` header must be one of ours: a foreign name that was made to point to
  this machine (DNS rebinding) is refused;
- pages of other sites get no answers (`Sec-Fetch-Site`), and a request that changes something must
  be a POST of JSON from our own origin, with a header that no other site can send;
- if there is a token, nothing is answered without it. It is given once, and a cookie that no
  script can read stands for it from then on; programs send it as `Bearer`. Those who guess must
  wait (`dashboard.login_attempts`);
- pages may load our own files and nothing else: no inline scripts or styles, no frames.

Bodies are small by nature, so larger ones are not read.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from math import ceil

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tres.dashboard.login_attempts import LoginAttempts
from tres.errors import ConfigError

LARGEST_BODY = 10_000
SHORTEST_TOKEN = 16
COOKIE = "tres-dashboard"
CUSTOM_HEADER = "x-tres"
OPEN_PATHS = ("/", "/api/login")
"""Answered without a token, as are files below `/static/`."""
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class RefusedError(Exception):
    """A request that is refused."""

    def __init__(self, status: int, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.wait = wait
        """Seconds after which the same request may be answered, if that would help."""


async def refusal(request: Request, problem: Exception) -> Response:
    """Return the response to a request that was refused behind the guard."""
    assert isinstance(problem, RefusedError)
    return _refused(problem)


def _refused(problem: RefusedError) -> Response:
    headers = {"Retry-After": str(ceil(problem.wait))} if problem.wait else None
    return JSONResponse({"error": problem.message}, problem.status, headers)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def choose_token(host: str, given: str | None) -> str | None:
    """Return the token to ask for: the given one, a new one beyond loopback, else none."""
    if given is not None and (len(given) < SHORTEST_TOKEN or not given.isascii()):
        raise ConfigError(
            f"--token must have {SHORTEST_TOKEN} or more ASCII characters; leave it out and one is "
            "made for you"
        )
    if given is None and not is_loopback(host):
        return secrets.token_urlsafe(32)
    return given


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Our host names, and what lets a client in."""

    names: Collection[str]
    token: str | None = None
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What the cookie holds: proof that the browser has shown the token, not the token itself."""
    attempts: LoginAttempts = field(default_factory=LoginAttempts)

    def is_own_host(self, host: str) -> bool:
        """Return whether a host is ours; with a token, any IP address is."""
        name = _host_name(host)
        if name in self.names or name in LOOPBACK_NAMES:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return self.token is not None

    def accepts_token(self, token: str, address: str) -> bool:
        """Return whether this is the token, in constant time; refuse those who guess."""
        if wait := self.attempts.wait(address):
            raise RefusedError(429, f"too many wrong tokens; wait {ceil(wait)} s", wait)
        right = self.token is not None and _equal(token, self.token)
        if not right:
            self.attempts.failed(address, token)
        return right

    def is_authorized(self, headers: Mapping[str, str], address: str) -> bool:
        """Return whether a request shows the token or the cookie, if there is a token."""
        if self.token is None or _equal(_cookie(headers.get("cookie", "")), self.cookie):
            return True
        kind, _, shown = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.accepts_token(shown.strip(), address)


class Guard:
    """ASGI middleware that refuses what the rules do not allow."""

    def __init__(self, app: ASGIApp, access: AccessRules) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        guarded = _with_headers(send, scope["path"])
        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope), client_address(scope))
        except RefusedError as problem:
            await _refused(problem)(scope, receive, guarded)
        else:
            await self._app(scope, _limited(receive), guarded)

    def _check(self, method: str, path: str, headers: Headers, address: str) -> None:
        host = headers.get("host", "")
        if not self._access.is_own_host(host):
            raise RefusedError(421, "this is not the host that you asked for")
        reading = method in ("GET", "HEAD")
        if not reading and method != "POST":
            raise RefusedError(405, "use GET, or POST for what changes something")
        asks_page = reading and (path == "/" or path.startswith("/static/"))
        if not asks_page and headers.get("sec-fetch-site", "same-origin") not in OWN_SITES:
            raise RefusedError(403, "pages of other sites get no answers")
        if not reading:
            _refuse_forged(host, headers)
        is_open = path in OPEN_PATHS or path.startswith("/static/")
        if not is_open and not self._access.is_authorized(headers, address):
            raise RefusedError(401, "give the token that 'tres dashboard' has printed")


OWN_SITES = ("same-origin", "none")


def client_address(scope: Scope) -> str:
    """Return the address that a request comes from."""
    return str((scope.get("client") or ("",))[0])


def _refuse_forged(host: str, headers: Headers) -> None:
    """Refuse a change that does not come from our own page or a program."""
    origin = headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        raise RefusedError(403, "pages of other sites may not change anything")
    if headers.get(CUSTOM_HEADER) is None:
        raise RefusedError(403, f"the header {CUSTOM_HEADER} is missing")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "send JSON")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY:
        raise RefusedError(413, f"send no more than {LARGEST_BODY:,} bytes")


def _limited(receive: Receive) -> Receive:
    """Limit a body that does not announce its length."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LARGEST_BODY:
            raise RefusedError(413, f"send no more than {LARGEST_BODY:,} bytes")
        return message

    return limited


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)  # a report has its own policy
            headers["Cache-Control"] = "no-cache" if path.startswith("/static/") else "no-store"
        await send(message)

    return guarded


def _host_name(host: str) -> str:
    """The name in a `Host` header, without the port, which a tunnel may change."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode("utf-8", "replace"), other.encode())
