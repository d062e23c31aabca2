"""A forward proxy on loopback that holds a browser to the rules of the crawl.

A browser does its own networking, so no check inside the crawler can see what the scripts of a page
request. Therefore the browser gets this proxy and no other way out. The invariant: every connection
goes to an address that `permitted` has approved, and to that very address, without a second look-up
that could give another answer. Each request is checked, so redirects obey the same rule.

https arrives as CONNECT, whose bytes are passed on unread. http arrives with absolute URLs, one
request per connection: the response is always marked as the last, so that nothing sent after it can
reach the wrong server. h11 parses the head and writes the one that the server gets, so a server
never sees bytes that another parser could understand otherwise (request smuggling). Responses pass
unparsed, as browsers tolerate more than h11, and as the connection ends with them anyway.

A connection ends after a number of seconds and of bytes. Other users of the machine can reach
loopback, so the proxy serves only those who know the secret of this run.

With `upstream`, every request goes to that proxy in absolute form. It has a web of its own, without
addresses to check and without TLS, so CONNECT is refused then.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import h11

HEAD_BYTES = 64 * 1024
_CHUNK = 64 * 1024
_PERSISTENCE = (b"connection", b"keep-alive", b"proxy-connection")
_HOP_BY_HOP = (*_PERSISTENCE, b"proxy-authorization", b"te", b"host")
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
"""Bare CR or LF and folded lines: h11 accepts some of them, browsers send none."""
_AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/@]+)):(\d{1,5})")


class RefusalError(Exception):
    """A request that the proxy answers with an error of its own."""

    def __init__(self, status: int, reason: str, header: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.response = (
            f"HTTP/1.1 {status} {reason}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n"
        ).encode()


def parse_head(raw: bytes) -> h11.Request:
    """Return the request whose whole head is `raw`, or refuse it."""
    connection = h11.Connection(h11.SERVER, HEAD_BYTES)
    connection.receive_data(raw)
    request = connection.next_event()
    if not isinstance(request, h11.Request) or connection.trailing_data[0]:
        raise RefusalError(400, "Bad Request")
    if request.http_version not in (b"1.0", b"1.1") or _AMBIGUOUS.search(raw):
        raise RefusalError(400, "Bad Request")
    return request


def header(request: h11.Request, name: bytes) -> bytes:
    """Return the value of a header, empty if it is missing; refuse two different values."""
    values = {value for key, value in request.headers if key == name}
    if len(values) > 1:
        raise RefusalError(400, "Bad Request")
    return values.pop() if values else b""


def body_size(request: h11.Request) -> int:
    """Return the size of the body; refuse a request that does not say it beforehand."""
    if header(request, b"transfer-encoding"):
        raise RefusalError(411, "Length Required")
    return int(header(request, b"content-length") or 0)


def forwarded_head(request: h11.Request, target: str, host: str) -> bytes:
    """Return the head that the server gets: nothing meant for the proxy, and no second request."""
    kept = [(name, value) for name, value in request.headers if name not in _HOP_BY_HOP]
    headers = [(b"host", host.encode()), (b"connection", b"close"), *kept]
    sent = h11.Request(method=request.method, target=target, headers=headers)
    return h11.Connection(h11.CLIENT).send(sent) or b""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one connection may use: seconds in total, and bytes each way."""

    seconds: float
    bytes: int


class GuardingProxy:
    """Serves one browser; `refused` counts the requests to addresses not permitted, by host."""

    def __init__(
        self, permitted: Callable[[str], bool], limits: Limits, upstream: str = ""
    ) -> None:
        self.permitted = permitted
        self.limits = limits
        self.upstream = urlsplit(upstream) if upstream else None
        self.user, self.password = "tres", secrets.token_urlsafe(24)
        self.refused: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address of the proxy, once it has been started."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Listen on loopback, on a port that the system chooses."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening, and end all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._serve(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a side is gone, too slow or does not speak HTTP: the connection ends
        except asyncio.CancelledError:
            pass  # by `close`, which waits for us
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = parse_head(await reader.readuntil(b"\r\n\r\n"))
            self._check_secret(request)
            if request.method == b"CONNECT":
                await self._tunnel(request, reader, writer)
            else:
                await self._forward(request, reader, writer)
        except RefusalError as refusal:
            writer.write(refusal.response)
        except h11.ProtocolError:
            writer.write(RefusalError(400, "Bad Request").response)
        await writer.drain()

    def _check_secret(self, request: h11.Request) -> None:
        given = header(request, b"proxy-authorization").removeprefix(b"Basic ")
        expected = base64.b64encode(f"{self.user}:{self.password}".encode())
        if not hmac.compare_digest(given, expected):
            challenge = 'Proxy-Authenticate: Basic realm="tres"\r\n'
            raise RefusalError(407, "Proxy Authentication Required", challenge)

    async def _tunnel(
        self, request: h11.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        authority = _AUTHORITY.fullmatch(request.target.decode())
        if self.upstream or not authority:
            raise RefusalError(501, "No TLS through this proxy")
        host, port = authority[1] or authority[2], int(authority[3])
        theirs, out = await self._connect(host, port)
        try:
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            await _until_one_ends(self._pass_on(reader, out), self._pass_on(theirs, writer))
        finally:
            out.close()

    async def _forward(
        self, request: h11.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        url = request.target.decode()
        host, port, target, size = *_destination(url), body_size(request)
        if size > self.limits.bytes:
            raise RefusalError(413, "Content Too Large")
        if self.upstream:
            target = url
            theirs, out = await self._open(self.upstream.hostname or "", self.upstream.port or 80)
        else:
            theirs, out = await self._connect(host, port)
        try:
            out.write(forwarded_head(request, target, urlsplit(url).netloc))
            out.write(await reader.readexactly(size))
            await out.drain()
            writer.write(_closing_head(await theirs.readuntil(b"\r\n\r\n")))
            await _until_one_ends(self._pass_on(theirs, writer), _discard(reader))
        finally:
            out.close()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        left = self.limits.bytes
        while left > 0 and (chunk := await source.read(min(_CHUNK, left))):
            sink.write(chunk)
            await sink.drain()
            left -= len(chunk)

    async def _connect(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first permitted address of a host."""
        with suppress(OSError, UnicodeError):
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
            for address in dict.fromkeys(str(entry[4][0]) for entry in found):
                if self.permitted(address):
                    return await self._open(address, port)
            self.refused[host] += 1
            raise RefusalError(403, "Address Not Permitted")
        raise RefusalError(502, "No Such Host Or No Connection")

    async def _open(
        self, address: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_connection(address, port, limit=HEAD_BYTES)
        except OSError:
            raise RefusalError(502, "No Connection") from None


async def _discard(reader: asyncio.StreamReader) -> None:
    """Read what the browser still sends, until it goes."""
    while await reader.read(_CHUNK):
        pass


async def _until_one_ends(*coroutines: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _destination(url: str) -> tuple[str, int, str]:
    """Return host, port, and path with query of an absolute http URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        raise RefusalError(400, "Bad Request") from None
    if parts.scheme != "http" or not host or "@" in parts.netloc:
        raise RefusalError(400, "Bad Request")
    return host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _closing_head(raw: bytes) -> bytes:
    """Return the head of a response, now saying that the connection ends with it."""
    first, *fields = raw[:-4].split(b"\r\n")
    kept = [line for line in fields if line.split(b":")[0].strip().lower() not in _PERSISTENCE]
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])
