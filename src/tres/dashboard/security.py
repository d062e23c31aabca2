"""Who may ask the dashboard for what: one guard before everything else.

Whoever can make a user's browser send requests must gain nothing by it. Therefore:

- the name in the `Host` header must be one of ours: a foreign name that was made to point to
  this machine (DNS rebinding) is refused;
- nothing of ours is answered to another site's page (`Sec-Fetch-Site`), and what changes
  anything must be a POST of JSON with a header that no other site can send, from our own
  origin;
- if there is a token, it is asked for before anything is told. It is given once, and a cookie
  that no script can read stands for it from then on; programs send it as `Bearer`. Whoever
  guesses must wait (`dashboard.login_attempts`);
- pages may load our own files and nothing else: no inline script, no style, no frame.

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

from tres.dashboard.login_attempts import Attempts
from tres.errors import ConfigError

LARGEST_BODY = 10_000
SHORTEST_TOKEN = 16
COOKIE = "tres-dashboard"
CUSTOM_HEADER = "x-tres"
OPEN_PATHS = ("/", "/api/login")
"""Told without a token; so is what lies below `/static/`."""
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
    """A request that is not answered."""

    def __init__(self, status: int, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.wait = wait
        """Seconds after which the same request may be answered, if that would help."""


async def refusal(request: Request, problem: Exception) -> Response:
    """The answer to a request that was refused behind the guard."""
    assert isinstance(problem, RefusedError)
    return _refused(problem)


def _refused(problem: RefusedError) -> Response:
    headers = {"Retry-After": str(ceil(problem.wait))} if problem.wait else None
    return JSONResponse({"error": problem.message}, problem.status, headers)


def is_loopback(host: str) -> bool:
    """Can only this machine reach that address?"""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def token_for(host: str, given: str | None) -> str | None:
    """The token to ask for: the given one, a new one if others may come, none on loopback."""
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
    """Under which names we are known, and what opens."""

    names: Collection[str]
    token: str | None = None
    pass_: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What the cookie holds: it says that its bearer has known the token, not which it is."""
    attempts: Attempts = field(default_factory=Attempts)

    def knows(self, host: str) -> bool:
        """Is this one of our names? Addresses are: no foreign name can be hidden in one."""
        name = _host_name(host)
        if name in self.names or name in LOOPBACK_NAMES:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return self.token is not None

    def opens(self, token: str, address: str) -> bool:
        """Is this the token? As quickly answered for any wrong one, and not for guessers."""
        if wait := self.attempts.wait(address):
            raise RefusedError(429, f"too many wrong tokens; wait {ceil(wait)} s", wait)
        right = self.token is not None and _equal(token, self.token)
        if not right:
            self.attempts.failed(address, token)
        return right

    def lets_in(self, headers: Mapping[str, str], address: str) -> bool:
        """Has whoever sent these headers shown the token, if there is one?"""
        if self.token is None or _equal(_cookie(headers.get("cookie", "")), self.pass_):
            return True
        kind, _, shown = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.opens(shown.strip(), address)


class Guard:
    """ASGI middleware: nothing behind it is reached but by its rules."""

    def __init__(self, app: ASGIApp, access: AccessRules) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        guarded = _with_headers(send, scope["path"])
        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope), caller(scope))
        except RefusedError as problem:
            await _refused(problem)(scope, receive, guarded)
        else:
            await self._app(scope, _limited(receive), guarded)

    def _check(self, method: str, path: str, headers: Headers, address: str) -> None:
        host = headers.get("host", "")
        if not self._access.knows(host):
            raise RefusedError(421, "this is not the host that you asked for")
        reading = method in ("GET", "HEAD")
        if not reading and method != "POST":
            raise RefusedError(405, "there is GET, and POST for what changes anything")
        asks_page = reading and (path == "/" or path.startswith("/static/"))
        if not asks_page and headers.get("sec-fetch-site", "same-origin") not in OWN_SITES:
            raise RefusedError(403, "other sites may not ask")
        if not reading:
            _refuse_forged(host, headers)
        is_open = path in OPEN_PATHS or path.startswith("/static/")
        if not is_open and not self._access.lets_in(headers, address):
            raise RefusedError(401, "give the token that 'tres dashboard' has printed")


OWN_SITES = ("same-origin", "none")


def caller(scope: Scope) -> str:
    """The address that a request comes from."""
    return str((scope.get("client") or ("",))[0])


def _refuse_forged(host: str, headers: Headers) -> None:
    """What changes anything comes from our own page, or from a program."""
    origin = headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        raise RefusedError(403, "other sites may not change anything")
    if headers.get(CUSTOM_HEADER) is None:
        raise RefusedError(403, f"the header {CUSTOM_HEADER} is missing")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "send JSON")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY:
        raise RefusedError(413, f"send no more than {LARGEST_BODY:,} bytes")


def _limited(receive: Receive) -> Receive:
    """A body that says nothing about its length is cut off all the same."""
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
                headers.setdefault(name, value)  # a report has a policy of its own
            headers["Cache-Control"] = "no-cache" if path.startswith("/static/") else "no-store"
        await send(message)

    return guarded


def _host_name(host: str) -> str:
    """The name in a `Host` header, without the port: others may forward theirs to ours."""
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
