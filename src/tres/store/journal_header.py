"""The header of a journal: what identifies the file, and what holds for the whole run.

SQLite's own header has our application id and the version of the format; the table `meta` has the
rest, a row each, as JSON.
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
"""SQLite's application id of a journal: `tres` in ASCII."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What holds for a whole run. `web` is the address of its web, empty for the live Web."""

    web: str
    web_name: str
    features: tuple[str, ...]
    exploration_pages: int = 0
    version: str = __version__
    policy: str = ""
    """The policy object of a program; empty for the policy that the configuration names."""

    @property
    def checksum(self) -> int:
        """The link from which the chain of the records starts."""
        return zlib.crc32(json.dumps([FORMAT, asdict(self)], sort_keys=True).encode())


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Make a new file the journal of a run."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    rows = [(key, json.dumps(value)) for key, value in asdict(meta).items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)


def read_meta(connection: sqlite3.Connection, path: Path) -> Meta:
    """The header of a journal; `RunError` or `DamagedError` if it is not a journal of tres."""
    _refuse_foreign(connection, path)
    values = {
        key: json.loads(value)
        for key, value in connection.execute("SELECT key, value FROM meta").fetchall()
    }
    meta = Meta(**{**values, "features": tuple(values["features"])})
    texts = (meta.web, meta.web_name, meta.version, meta.policy, *meta.features)
    if not all(isinstance(text, str) for text in texts) or type(meta.exploration_pages) is not int:
        raise DamagedError("its header has values of other types")
    return meta


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise RunError(
            f"{path}: is not a journal of tres; name a run that 'tres crawl' has written"
        )
    if version != FORMAT:
        raise RunError(
            f"{path}: has the format {version}, and this version of tres reads {FORMAT}; use the "
            "version of tres that wrote it"
        )
