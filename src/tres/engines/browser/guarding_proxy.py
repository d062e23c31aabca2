"""A forward proxy on loopback that holds a browser to the rules of the crawl.

A browser does its own networking, so no check inside the crawler can see what a script of a
page asks for. Therefore the browser is given this proxy and no other way out. The invariant:
every connection that it opens goes to an address that `permitted` has approved, and that very
address is connected to, without a second look-up that could give another answer. As each
request is asked about anew, redirects and later look-ups are held to the same rule.

https comes as CONNECT, whose bytes are passed on unread. http comes with absolute URLs, one
request per connection: the answer is always marked as the last, so that nothing sent after it
can reach the wrong server. Every connection ends after a number of seconds and of bytes. Only
who knows the secret of this run is served, as other users of the machine can reach loopback.

With `upstream`, everything is sent to that proxy in absolute form. It is a web of its own,
which has no addresses to check and no TLS, so CONNECT is refused then.
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

HEAD_BYTES = 64 * 1024
_CHUNK = 64 * 1024
_HOP_BY_HOP = {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te"}
_REQUEST = re.compile(r"([A-Z]+) (\S+) HTTP/1\.[01]")
_AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/@]+)):(\d{1,5})")


class RefusalError(Exception):
    """A request that gets an error of the proxy's own for an answer."""

    def __init__(self, status: int, reason: str, header: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.answer = (
            f"HTTP/1.1 {status} {reason}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n"
        ).encode()


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one request: first line and headers."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, raw: bytes) -> Head:
        """Take a head apart, or refuse it."""
        first, *rest = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
        request = _REQUEST.fullmatch(first)
        fields = [line.partition(":") for line in rest]
        if not request or not all(mark and name == name.strip() for name, mark, _ in fields):
            raise RefusalError(400, "Bad Request")
        headers = tuple((name.lower(), value.strip()) for name, _, value in fields)
        return cls(request[1], request[2], headers)

    def get(self, name: str) -> str:
        """The value of a header, empty if there is none; told twice, it is refused."""
        values = {value for key, value in self.headers if key == name}
        if len(values) > 1:
            raise RefusalError(400, "Bad Request")
        return values.pop() if values else ""

    @property
    def body_bytes(self) -> int:
        """The size of the body; what has no size beforehand is refused."""
        size = self.get("content-length") or "0"
        if self.get("transfer-encoding") or not re.fullmatch("[0-9]{1,12}", size):
            raise RefusalError(411, "Length Required")
        return int(size)

    def forwarded(self, target: str, host: str) -> bytes:
        """The head as the server gets it: no word to the proxy, and no second request."""
        kept = [(k, v) for k, v in self.headers if k not in _HOP_BY_HOP and k != "host"]
        lines = [f"{self.method} {target} HTTP/1.1", f"host: {host}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in kept]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one connection may take: seconds altogether, and bytes of its answers."""

    seconds: float
    bytes: int


class GuardingProxy:
    """Serves one browser; `refused` counts what was not let through, by host."""

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
        """Where it listens. It must have been started."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Listen on loopback, on a port that the system chooses."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)

    async def close(self) -> None:
        """Listen no more, and end what is still connected."""
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
            pass  # either side is gone, too slow or no HTTP: the connection ends, as it would
        except asyncio.CancelledError:
            pass  # `close` ends us; there is nobody else to tell
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = Head.parse(await reader.readuntil(b"\r\n\r\n"))
            self._check_secret(head)
            if head.method == "CONNECT":
                await self._tunnel(head, reader, writer)
            else:
                await self._forward(head, reader, writer)
        except RefusalError as refusal:
            writer.write(refusal.answer)
            await writer.drain()

    def _check_secret(self, head: Head) -> None:
        given = head.get("proxy-authorization").removeprefix("Basic ").encode()
        expected = base64.b64encode(f"{self.user}:{self.password}".encode())
        if not hmac.compare_digest(given, expected):
            challenge = 'Proxy-Authenticate: Basic realm="tres"\r\n'
            raise RefusalError(407, "Proxy Authentication Required", challenge)

    async def _tunnel(
        self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        authority = _AUTHORITY.fullmatch(head.target)
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
        self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, port, target, size = *_destination(head.target), head.body_bytes
        if size > self.limits.bytes:
            raise RefusalError(413, "Content Too Large")
        if self.upstream:
            target = head.target
            theirs, out = await self._open(self.upstream.hostname or "", self.upstream.port or 80)
        else:
            theirs, out = await self._connect(host, port)
        try:
            out.write(head.forwarded(target, urlsplit(head.target).netloc))
            out.write(await reader.readexactly(size))
            await out.drain()
            writer.write(_last_answer(await theirs.readuntil(b"\r\n\r\n")))
            await _until_one_ends(self._pass_on(theirs, writer), _ignore(reader))
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
        """Connect to the first address of a host that may be connected to."""
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


async def _ignore(reader: asyncio.StreamReader) -> None:
    """Read what nobody has asked for, until the browser goes."""
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
    """Host, port, and path with query of an absolute http URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        raise RefusalError(400, "Bad Request") from None
    if parts.scheme != "http" or not host or "@" in parts.netloc:
        raise RefusalError(400, "Bad Request")
    return host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _last_answer(raw: bytes) -> bytes:
    """The head of an answer, saying that the connection ends with it."""
    first, *fields = raw[:-4].split(b"\r\n")
    kept = [line for line in fields if line.split(b":")[0].strip().lower() not in _PERSISTENT]
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


_PERSISTENT = {b"connection", b"keep-alive", b"proxy-connection"}
