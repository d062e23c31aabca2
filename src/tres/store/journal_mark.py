"""The mark of a journal: how much of it there must be, kept outside of it.

SQLite reads a write-ahead log up to its first bad frame and takes that for the end. Where the
log is gone or damaged, a journal therefore ends early without a word. The mark says how far it
must reach at least: the number of its last record, the chain of checksums there
(`store.checksum_chain`), and the end of the WARC files by then.

    journal.mark    two slots of 512 bytes, each one line of JSON with its checksum
      committed     written after every commit, never synced: what a *kill* cannot take away
      synced        written after journal and WARC files were synced: what a *power cut* cannot
                    take away

Which of the two counts? The committed slot names the boot of the machine in which it was
written. In that boot every commit is still there, so the journal must reach it. In another one
the machine has stopped in between, and only what was synced has to be there.

The file is overwritten in place, a slot is one sector, so a slot is old or new and never half.
Before the file is synced the committed slot is emptied, and filled again afterwards: a disk never
holds a promise about records that had not reached it. For the same reason the synced slot lags by
one sync: whoever copies a disk or a directory while a crawl writes to it reads files at different
moments, and a copy must not promise more than it holds.

A run without a mark is taken as it is. So removing the mark is how to go on with a journal whose
end is lost.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import NamedTuple, Self

from tres.files.durable import sync_directory, write_synced
from tres.store.records import DamagedError

SLOT = 512
BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Where Linux names the boot; elsewhere only the synced slot counts."""


class Extent(NamedTuple):
    """How far a run has come."""

    position: int
    chain: int
    warc_end: int = 0


class Mark:
    """The mark of one journal, open to be written by whoever holds the run."""

    def __init__(self, path: Path, synced: Extent, boot: str | None = None) -> None:
        self._file = os.open(path, os.O_WRONLY)
        self._boot = this_boot() if boot is None else boot
        self._synced = synced

    @classmethod
    def create(cls, path: Path, extent: Extent) -> Self:
        """A new mark for what is synced already."""
        write_synced(path, [_slot("", None), _slot("", extent)])
        sync_directory(path.parent)
        return cls(path, extent)

    def commit(self, extent: Extent) -> None:
        """So much is committed."""
        os.pwrite(self._file, _slot(self._boot, extent), 0)

    def sync(self, extent: Extent) -> None:
        """So much is on disk, and nothing more is committed."""
        self._promise(None, self._synced)
        self._synced = extent
        self.commit(extent)

    def settle(self, extent: Extent) -> None:
        """So much is on disk and stays: the end of a crawl, or a journal that was taken back."""
        self._synced = extent
        self._promise(extent, extent)

    def close(self) -> None:
        """Nothing more is promised."""
        os.close(self._file)

    def _promise(self, committed: Extent | None, synced: Extent) -> None:
        os.pwrite(self._file, _slot(self._boot, committed) + _slot("", synced), 0)
        os.fsync(self._file)


class Promise(NamedTuple):
    """What must be there: `least` of the journal; `synced` has reached the disk long ago."""

    least: Extent
    synced: Extent
    is_exact: bool
    """Does `least` tell every commit? Then at most the one that was cut off is beyond it."""


def promised(path: Path) -> Promise | None:
    """What a mark promises; nothing if there is none. `DamagedError` if it cannot be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError(error.strerror or str(error)) from None
    synced = _held(content[SLOT : 2 * SLOT])
    if synced is None or synced[1] is None or len(content) != 2 * SLOT:
        raise DamagedError("it is not what was written")
    match _held(content[:SLOT]):
        case str(boot), Extent() as committed if boot and boot == this_boot():
            return Promise(committed, synced[1], True)
    return Promise(synced[1], synced[1], False)


def this_boot() -> str:
    """The name of this run of the machine; empty where none is told."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def _slot(boot: str, extent: Extent | None) -> bytes:
    line = json.dumps([boot, extent])
    return f"{line} {zlib.crc32(line.encode()):08x}".ljust(SLOT - 1).encode() + b"\n"


def _held(slot: bytes) -> tuple[str, Extent | None] | None:
    """What a slot holds; nothing if it is not what was written."""
    line, _, checksum = slot.strip().rpartition(b" ")
    if checksum != b"%08x" % zlib.crc32(line):
        return None
    boot, extent = json.loads(line)
    return boot, None if extent is None else Extent(*extent)
