"""What servers answered, kept as WARC 1.1 files that other tools read as well.

    pages-00000.warc.gz, pages-00001.warc.gz, ...     a new file after about 1 GB

Each file opens with a `warcinfo` record; then every exchange is a `request` and a `response`
record, each its own gzip member. An exchange is written whole or not at all, and the archive
is addressed by one number: its *end*, the bytes of all files in order. Up to any end that
`append` has returned all members are whole, so `truncate` takes a killed crawl back to the
last end that its journal knows, and a crawl that is repeated writes the same bytes again:
record ids are digests of what the record says and of where it stands, not random.

After a power cut the files may be shorter than the journal knows, or hold zeros: what was
written since the last `sync` may or may not be there. `is_whole` tells whether an exchange
is, and `store.recovery` takes the journal back to the last page that both have.

The block of a record is what went over the wire, with two exceptions that readers depend on.
A head is one line per header and ends at its first empty line, whatever a server puts into
it. And a header that is not true of the body kept here is renamed, as crawlers do that keep
bodies without their chunks: `Transfer-Encoding` and a wrong `Content-Length` become
`X-Crawler-...`, else readers would look for chunks or an end that are not there.
`Content-Encoding` stays, for the body is still compressed.
"""

from __future__ import annotations

import os
import re
import zlib
from base64 import b32encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha1
from io import FileIO
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from tres import __version__
from tres.engines.protocols import Exchange
from tres.errors import printable
from tres.files.durable import sync_directory
from tres.offline.warc import ASKED_URI, PAGE_URI
from tres.settings.sections import LiveSection

PART, PARTS = "pages-{:05}.warc.gz", f"pages-{5 * '[0-9]'}.warc.gz"
PART_BYTES = 1_000_000_000
LEVEL = 4
"""Of zlib. Files are within 2 % of those of level 9 and are written a third faster."""
MAX_URI_BYTES = 8_000
"""Readers refuse a record whose own head is longer than 32 kB; no page has such a URL."""

STANDARD = {
    "software": f"tres/{__version__}",
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
}

_GZIP = 16 + zlib.MAX_WBITS
_SURPLUS = 64_000_000
"""Bytes behind an end that are looked at: an exchange is smaller."""
_PIECE = 1 << 16
"""Compressed bytes that are unpacked at once, so that no more than their content is in memory."""
_URI = "".join(map(chr, range(0x21, 0x7F))).replace("<", "").replace(">", "")
_FOLD = re.compile(rb"\n[ \t]+")
_VISIBLE = re.compile(rb"[!-~]")
_CHUNKS = re.compile(rb"transfer-encoding[ \t]*:", re.IGNORECASE)
_LENGTH = re.compile(rb"content-length[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)

Fields = list[tuple[str, str]]


def about_crawl(live: LiveSection, user_agent: str) -> dict[str, str]:
    """What a `warcinfo` record says about the crawl: how it behaved and who answers for it."""
    return {
        "robots": "obey" if live.robots else "ignore",
        "http-header-user-agent": user_agent,
        "operator": live.contact,
    }


class WarcStore:
    """The WARC files of one run; appends to those that are there."""

    def __init__(
        self,
        directory: Path,
        about: Mapping[str, str],
        part_bytes: int = PART_BYTES,
        level: int = LEVEL,
    ) -> None:
        self.directory = directory
        self._about = STANDARD | dict(about)
        self._part_bytes = part_bytes
        self._level = level
        self._file: FileIO | None = None
        self._is_new = False
        self._measure()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def end(self) -> int:
        """Bytes of all files together."""
        return self._before + self._size

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        """Write an exchange; gives the end. `OSError`, as of a full disk, leaves all as it was.

        `asked` is the URL that the crawl had asked for and `page` the one it knows the page by,
        where they are not that of the exchange: readers find the page under all of them.
        """
        if self._size >= self._part_bytes:
            self._roll_over()
        records = [] if self._size else [self._warcinfo(exchange.at)]
        records += _records(exchange, self.end, asked, page)
        self._write(b"".join(zlib.compress(one, self._level, _GZIP) for one in records))
        return self.end

    def truncate(self, end: int) -> None:
        """Forget what was written after this end, which `append` had returned (or 0)."""
        self.close()
        for part in parts_of(self.directory):
            size = part.stat().st_size
            kept = min(size, end)
            end -= kept
            if not kept:
                part.unlink()
            elif kept < size:
                os.truncate(part, kept)
        self._measure()

    def sync(self) -> None:
        """Bring all that was appended to disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())
        if self._is_new:
            sync_directory(self.directory)
            self._is_new = False

    def is_whole(self, start: int, end: int) -> bool:
        """Is what `append` wrote between these ends still there, byte for byte?"""
        return end <= self.end and members_in(self._read(start, end)) is not None

    def surplus(self, end: int) -> int:
        """How many whole records stand behind an end."""
        return sum(1 for _ in _members(self._read(end, min(self.end, end + _SURPLUS))))

    def _read(self, start: int, end: int) -> bytes:
        """The bytes between two ends; an exchange lies in one file."""
        found = b""
        for part in parts_of(self.directory):
            size = part.stat().st_size
            if start < size and end > 0:
                with part.open("rb") as file:
                    file.seek(max(start, 0))
                    found += file.read(min(end, size) - max(start, 0))
            start, end = start - size, end - size
        return found

    def close(self) -> None:
        """Nothing more comes for now."""
        with suppress(OSError):  # a full disk: what is not there is noticed when it is looked for
            self.sync()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _measure(self) -> None:
        sizes = [part.stat().st_size for part in parts_of(self.directory)] or [0]
        self._number, self._before, self._size = len(sizes) - 1, sum(sizes[:-1]), sizes[-1]

    def _roll_over(self) -> None:
        self.close()
        self._number, self._before, self._size = self._number + 1, self.end, 0

    def _write(self, data: bytes) -> None:
        """All of it or nothing: giving space back succeeds on a full disk too."""
        if self._file is None:
            self._is_new = not self._size
            self._file = FileIO(self.directory / PART.format(self._number), "ab")
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._file.truncate(self._size)
            raise
        self._size += len(data)

    def _warcinfo(self, at: float) -> bytes:
        told = "".join(f"{key}: {printable(value)}\r\n" for key, value in self._about.items())
        name = ("WARC-Filename", PART.format(self._number))
        block = Block.of("warcinfo", "application/warc-fields", told.encode("utf-8", "replace"))
        return block.record(block.id(at, self.end), at, [name])


def members_in(data: bytes) -> int | None:
    """How many gzip members these bytes are; None if they are anything else besides."""
    sizes = list(_members(data))
    return len(sizes) if sum(sizes) == len(data) else None


def _members(data: bytes) -> Iterator[int]:
    """The sizes of the gzip members at the beginning of these bytes, as far as they are whole."""
    rest = memoryview(data)
    while rest:
        member, taken = zlib.decompressobj(_GZIP), 0
        try:
            while not member.eof and taken < len(rest):
                member.decompress(rest[taken : taken + _PIECE])
                taken += _PIECE
        except zlib.error:
            return
        if not member.eof:
            return
        size = min(taken, len(rest)) - len(member.unused_data)
        yield size
        rest = rest[size:]


def parts_of(directory: Path) -> list[Path]:
    """The WARC files of a run, in order."""
    return sorted(directory.glob(PARTS))


class Block(NamedTuple):
    """What a record holds, and of which kind it is."""

    kind: str
    content_type: str
    content: bytes

    digest: str

    @classmethod
    def of(cls, kind: str, content_type: str, content: bytes) -> Self:
        """A block of this content."""
        return cls(kind, content_type, content, _digest(content))

    def id(self, at: float, position: int) -> str:
        """The same for the same words, said at the same time and place; else another."""
        said = f"{self.kind} {_date(at)} {position} {self.digest}"
        return f"<urn:uuid:{uuid5(NAMESPACE_URL, said)}>"

    def record(self, identity: str, at: float, fields: Fields) -> bytes:
        """The record, with its own head."""
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


def _records(exchange: Exchange, position: int, asked: str, page: str) -> list[bytes]:
    """The request, if it is known, and the response."""
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
    """The lines, those renamed that are not true of this body, and its length."""
    length = b"%d" % len(body)
    claims = [told[1].strip() for line in lines if (told := _LENGTH.match(line))]
    honest = claims == [length]
    false = [_CHUNKS] if honest else [_CHUNKS, _LENGTH]
    kept = [b"X-Crawler-" + line if any(f.match(line) for f in false) else line for line in lines]
    return kept if honest else [*kept, b"Content-Length: " + length]


def _address(address: str) -> Fields:
    """An IP address without its zone; nothing if it is none."""
    try:
        return [("WARC-IP-Address", str(ip_address(address.partition("%")[0])))]
    except ValueError:
        return []


def _uri(url: str) -> str:
    """A URL that cannot end its line: all but visible ASCII is percent-encoded."""
    return quote(url, safe=_URI, errors="replace")[:MAX_URI_BYTES]


def _date(at: float) -> str:
    told = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    return f"{told.removesuffix('+00:00')}Z"


def _digest(content: bytes) -> str:
    return f"sha1:{b32encode(sha1(content, usedforsecurity=False).digest()).decode()}"
