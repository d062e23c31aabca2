"""An HTTP exchange as WARC 1.1 records: the request, if it is known, and the response.

The block of a record is what went over the wire, with two exceptions that readers depend on.
A head is one line per header and ends at its first empty line, whatever a server puts into
it. And a header that is not true of the body kept here is renamed, as crawlers do that keep
bodies without their chunks: `Transfer-Encoding` and a wrong `Content-Length` become
`X-Crawler-...`, else readers would look for chunks or an end that are not there.
`Content-Encoding` stays, for the body is still compressed.

Record ids are digests of a record's content and of its place, not random: a crawl that is repeated
writes the same bytes again.
"""

from __future__ import annotations

import re
from base64 import b32encode
from datetime import UTC, datetime
from hashlib import sha1
from ipaddress import ip_address
from typing import NamedTuple, Self
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from tres.engines.protocols import Exchange
from tres.offline.warc import ASKED_URI, PAGE_URI

MAX_URI_BYTES = 8_000
"""Readers refuse a record whose own head is longer than 32 kB; no page has such a URL."""

_URI = "".join(map(chr, range(0x21, 0x7F))).replace("<", "").replace(">", "")
_FOLD = re.compile(rb"\n[ \t]+")
_VISIBLE = re.compile(rb"[!-~]")
_CHUNKS = re.compile(rb"transfer-encoding[ \t]*:", re.IGNORECASE)
_LENGTH = re.compile(rb"content-length[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)

Fields = list[tuple[str, str]]


class Block(NamedTuple):
    """The type and the content of a record."""

    kind: str
    content_type: str
    content: bytes
    digest: str

    @classmethod
    def of(cls, kind: str, content_type: str, content: bytes) -> Self:
        """Return a block with its digest."""
        return cls(kind, content_type, content, _digest(content))

    def id(self, at: float, position: int) -> str:
        """The record id; equal for equal content at the same time and place."""
        name = f"{self.kind} {_date(at)} {position} {self.digest}"
        return f"<urn:uuid:{uuid5(NAMESPACE_URL, name)}>"

    def record(self, identity: str, at: float, fields: Fields) -> bytes:
        """Return the bytes of the record, including its WARC header."""
        head = [
            "WARC/1.1",
            f"WARC-Type: {self.kind}",
            f"WARC-Record-ID: {identity}",
            f"WARC-Date: {_date(at)}",
            *(f"{key}: {value}" for key, value in fields),
            f"WARC-Block-Digest: {self.digest}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {len(self.content)}",
        ]
        return b"%b\r\n\r\n%b\r\n\r\n" % ("\r\n".join(head).encode(), self.content)


def exchange_records(exchange: Exchange, position: int, asked: str, page: str) -> list[bytes]:
    """Return the records of an exchange that is written at a position in the archive.

    `asked` and `page` are further URLs by which readers find the page.
    """
    at, body = exchange.at, exchange.body
    request = _http("request", _joined(_lines(exchange.request_head)))
    response = _http("response", _joined(_true_of(body, _lines(exchange.response_head))) + body)
    identity = response.id(at, position)
    fields = [("WARC-Target-URI", _uri(exchange.url)), *_address(exchange.address)]
    others = [(key, url) for key, url in ((ASKED_URI, asked), (PAGE_URI, page)) if url]
    names = [(key, _uri(url)) for key, url in others if url != exchange.url]
    payload = ("WARC-Payload-Digest", _digest(body))
    answer = response.record(identity, at, [*fields, *names, payload])
    if not exchange.request_head:
        return [answer]
    concurrent = ("WARC-Concurrent-To", identity)
    return [request.record(request.id(at, position), at, [*fields, concurrent]), answer]


def _http(kind: str, content: bytes) -> Block:
    return Block.of(kind, f"application/http; msgtype={kind}", content)


def _lines(head: bytes) -> list[bytes]:
    """One line per header; a line without a visible character would look like the end."""
    lines = _FOLD.sub(b" ", head.replace(b"\r\n", b"\n").replace(b"\r", b" ")).split(b"\n")
    return [line.strip() for line in lines if _VISIBLE.search(line)]


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def _true_of(body: bytes, lines: list[bytes]) -> list[bytes]:
    """The lines of a head that hold for this body, false ones renamed, with its length."""
    length = b"%d" % len(body)
    claims = [match[1].strip() for line in lines if (match := _LENGTH.match(line))]
    honest = claims == [length]
    false = [_CHUNKS] if honest else [_CHUNKS, _LENGTH]
    kept = [b"X-Crawler-" + line if any(f.match(line) for f in false) else line for line in lines]
    return kept if honest else [*kept, b"Content-Length: " + length]


def _address(address: str) -> Fields:
    """The header for an IP address, without its zone; none if it is not an address."""
    try:
        return [("WARC-IP-Address", str(ip_address(address.partition("%")[0])))]
    except ValueError:
        return []


def _uri(url: str) -> str:
    """A URL that cannot end its line: all but visible ASCII is percent-encoded."""
    return quote(url, safe=_URI, errors="replace")[:MAX_URI_BYTES]


def _date(at: float) -> str:
    date = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    return f"{date.removesuffix('+00:00')}Z"


def _digest(content: bytes) -> str:
    return f"sha1:{b32encode(sha1(content, usedforsecurity=False).digest()).decode()}"
