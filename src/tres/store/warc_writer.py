"""The WARC files of a run: what servers sent, in a form that other tools read as well.

    pages-00000.warc.gz, pages-00001.warc.gz, ...     a new file after about 1 GB

Each file opens with a `warcinfo` record; then every exchange is a `request` and a `response`
record (`tres.store.warc_records`), each its own gzip member. An exchange is written whole or not at
all, and one number addresses the archive: its *end*, the bytes of all files in order. Up to any
end that `append` has returned all members are whole, so `truncate` takes a killed crawl back to
the last end in its journal.

After a power cut the files may be shorter than the journal says, or hold zeros: what was written
since the last `sync` may be lost. `is_whole` tells whether an exchange is still there, and
`tres.store.session_rebuild` rewinds the journal to the last page that both have.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Self

from tres import __version__
from tres.engines.protocols import Exchange
from tres.errors import printable
from tres.files.durable import sync_directory
from tres.settings.sections import LiveSection
from tres.store.warc_records import Block, exchange_records

PART, PARTS = "pages-{:05}.warc.gz", f"pages-{5 * '[0-9]'}.warc.gz"
PART_BYTES = 1_000_000_000
LEVEL = 4
"""The level of zlib. Files are within 2 % of those of level 9 and are written a third faster."""

STANDARD = {
    "software": f"tres/{__version__}",
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
}

_GZIP = 16 + zlib.MAX_WBITS
_SURPLUS = 64_000_000
"""Bytes after an end that are examined: an exchange is smaller."""
_PIECE = 1 << 16
"""Compressed bytes that are unpacked at once, so that no more than their content is in memory."""


def about_crawl(live: LiveSection, user_agent: str) -> dict[str, str]:
    """Return the `warcinfo` fields about a crawl: its politeness and its operator."""
    return {
        "robots": "obey" if live.robots else "ignore",
        "http-header-user-agent": user_agent,
        "operator": live.contact,
    }


class WarcStore:
    """The WARC files of one run; existing files are appended to."""

    def __init__(
        self,
        directory: Path,
        about: Mapping[str, str],
        part_bytes: int = PART_BYTES,
    ) -> None:
        self.directory = directory
        self._about = STANDARD | dict(about)
        self._part_bytes = part_bytes
        self._file: FileIO | None = None
        self._is_new = False
        self._measure()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def end(self) -> int:
        """The size of all files together, in bytes."""
        return self._before + self._size

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        """Write an exchange and return the new end. An `OSError` (a full disk) changes nothing.

        `asked` is the URL that the crawl had requested and `page` the URL of the page, where they
        differ from that of the exchange: readers find the page under all of them.
        """
        if self._size >= self._part_bytes:
            self._roll_over()
        records = [] if self._size else [self._warcinfo(exchange.at)]
        records += exchange_records(exchange, self.end, asked, page)
        self._write(b"".join(zlib.compress(one, LEVEL, _GZIP) for one in records))
        return self.end

    def truncate(self, end: int) -> None:
        """Delete what was written after an end that `append` returned (or 0)."""
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
        """Sync everything appended to disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())
        if self._is_new:
            sync_directory(self.directory)
            self._is_new = False

    def is_whole(self, start: int, end: int) -> bool:
        """Whether what `append` wrote between two ends is still intact, byte for byte."""
        data = self._read(start, end)
        return end <= self.end and sum(gzip_members(data)) == len(data)

    def surplus(self, end: int) -> int:
        """Return the number of whole records after an end."""
        return sum(1 for _ in gzip_members(self._read(end, min(self.end, end + _SURPLUS))))

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
        """Sync and close the file; `append` opens it again."""
        with suppress(OSError):  # a full disk: what is missing is noticed when the run is resumed
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
        """Write all of it or nothing: a file can be cut on a full disk too."""
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
        fields = "".join(f"{key}: {printable(value)}\r\n" for key, value in self._about.items())
        name = ("WARC-Filename", PART.format(self._number))
        block = Block.of("warcinfo", "application/warc-fields", fields.encode("utf-8", "replace"))
        return block.record(block.id(at, self.end), at, [name])


def gzip_members(data: bytes) -> Iterator[int]:
    """Iterate over the sizes of the whole gzip members at the beginning of these bytes."""
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
    """Return the WARC files of a run, in order."""
    return sorted(directory.glob(PARTS))
