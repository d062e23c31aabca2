"""The high-water mark of a journal: how far it must reach, kept in a file beside it.

SQLite reads a write-ahead log up to its first bad frame and takes that for the end. Where the
log is gone or damaged, a journal therefore ends early without any error. The mark says how far it
must reach at least: the number of its last record, the chain of checksums there
(`store.journal_file`), and the end of the WARC files by then.

    journal.mark    two slots of 512 bytes, each one line of JSON with its checksum
      committed     written after every commit, never synced: what a *kill* cannot take away
      synced        written after journal and WARC files were synced: what a *power cut* cannot
                    take away

Which of the two counts? The committed slot names the boot of the machine in which it was
written. During that boot every commit is still there, so the journal must reach it. During
another one the machine has stopped in between, and only what was synced has to be there.

The file is overwritten in place and a slot is one sector, so a slot is old or new, never half of
each. Before the file is synced the committed slot is emptied, and filled again afterwards: a disk
never requires records that had not reached it. For the same reason the synced slot lags by one
sync: a copy of a disk or a directory made during a crawl has files of different moments, and must
not require more than it holds.

A run without a mark is taken as it is. So removing the mark is how to go on with a journal whose
end is lost.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from tres.files.durable import sync_directory, write_synced
from tres.store.journal_records import DamagedError

MARK = "journal.mark"
SLOT = 512
BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Where Linux names the boot; elsewhere only the synced slot counts."""


class Extent(NamedTuple):
    """How far a run reaches."""

    position: int
    chain: int
    warc_end: int = 0


class Required(NamedTuple):
    """How far a run must reach: at least to `least`; `synced` reached the disk long ago."""

    least: Extent
    synced: Extent
    is_exact: bool
    """Is `least` the last commit? Then at most the commit that was cut off lies beyond it."""


class HighWaterMark:
    """The mark of one journal, open for the process that writes to the run."""

    def __init__(self, path: Path, synced: Extent, boot: str | None = None) -> None:
        self._file = os.open(path, os.O_WRONLY)
        self._boot = this_boot() if boot is None else boot
        self._synced = synced

    @classmethod
    def create(cls, path: Path, extent: Extent) -> Self:
        """Write a new mark for an extent that is synced already."""
        write_synced(path, [_slot("", None), _slot("", extent)])
        sync_directory(path.parent)
        return cls(path, extent)

    def commit(self, extent: Extent) -> None:
        """Note that the run is committed up to here."""
        os.pwrite(self._file, _slot(self._boot, extent), 0)

    def sync(self, extent: Extent) -> None:
        """Note that the run is on disk up to here, and nothing more is committed."""
        self._write(None, self._synced)
        self._synced = extent
        self.commit(extent)

    def settle(self, extent: Extent) -> None:
        """Note the final extent of a crawl, or of a rewound journal: it is on disk and stays."""
        self._synced = extent
        self._write(extent, extent)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, committed: Extent | None, synced: Extent) -> None:
        os.pwrite(self._file, _slot(self._boot, committed) + _slot("", synced), 0)
        os.fsync(self._file)


def mark_path(journal: Path) -> Path:
    """Return the path of the mark of a journal."""
    return journal.with_suffix(Path(MARK).suffix)


def read_mark(path: Path) -> Required | None:
    """Return what a mark requires; None if there is no mark. `DamagedError` if it is unreadable."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError(error.strerror or str(error)) from None
    synced = _read_slot(content[SLOT : 2 * SLOT])
    if synced is None or synced[1] is None or len(content) != 2 * SLOT:
        raise DamagedError("it is not what was written")
    match _read_slot(content[:SLOT]):
        case str(boot), Extent() as committed if boot and boot == this_boot():
            return Required(committed, synced[1], True)
    return Required(synced[1], synced[1], False)


def this_boot() -> str:
    """Return the id of the current boot; empty where the system does not provide one."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def _slot(boot: str, extent: Extent | None) -> bytes:
    line = json.dumps([boot, extent])
    return f"{line} {zlib.crc32(line.encode()):08x}".ljust(SLOT - 1).encode() + b"\n"


def _read_slot(slot: bytes) -> tuple[str, Extent | None] | None:
    """The boot and the extent in a slot; None if it is not what was written."""
    line, _, checksum = slot.strip().rpartition(b" ")
    if checksum != b"%08x" % zlib.crc32(line):
        return None
    return msgspec.json.decode(line, type=tuple[str, Extent | None])
