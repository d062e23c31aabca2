"""What a journal says of its run as a whole, and by what a file is known as a journal.

The header of the file carries our mark and the version of the format; the table `meta` the
rest, a line each, as JSON.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from tres import __version__
from tres.errors import RunError
from tres.store.records import DamagedError

FORMAT = 3
APPLICATION = 0x74726573
"""Marks the file as ours: `tres` in ASCII."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What all of a run shares. `web` opens its web again; it is empty for the live Web."""

    web: str
    web_name: str
    features: tuple[str, ...]
    exploration_pages: int = 0
    version: str = __version__
    policy: str = ""
    """The policy that a program brought along; empty for the one that the configuration names."""

    @property
    def checksum(self) -> int:
        """Where the chain of the journal's records begins."""
        return zlib.crc32(json.dumps([FORMAT, asdict(self)], sort_keys=True).encode())


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Mark a new file as a journal of this run."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    held = {key: json.dumps(value) for key, value in asdict(meta).items()}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", held.items())


def read_meta(connection: sqlite3.Connection, path: Path) -> Meta:
    """What a journal says of its run; `RunError` or `DamagedError` if it is none of ours."""
    _refuse_foreign(connection, path)
    held = {
        key: json.loads(value)
        for key, value in connection.execute("SELECT key, value FROM meta").fetchall()
    }
    meta = Meta(**{**held, "features": tuple(held["features"])})
    texts = (meta.web, meta.web_name, meta.version, meta.policy, *meta.features)
    if not all(isinstance(text, str) for text in texts) or type(meta.exploration_pages) is not int:
        raise DamagedError("what it says of its run is none of that")
    return meta


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise RunError(f"{path}: is no journal of tres; name a run that 'tres crawl' has written")
    if version != FORMAT:
        raise RunError(
            f"{path}: has the format {version}, and this version of tres reads {FORMAT}; use the "
            "version of tres that wrote it"
        )
