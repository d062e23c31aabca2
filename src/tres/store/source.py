"""Where the pages of a run can be read again: their texts and links are not in its tables.

A live crawl has kept them itself, as WARC files in the directory of the run, unless it was
told not to. A crawl over an archive has kept the address of the archive.
"""

from __future__ import annotations

from pathlib import Path

from tres.errors import ArchiveError
from tres.store.journal import JOURNAL, Journal
from tres.store.warc import parts_of
from tres.webs import WarcArchive, Web, open_web


def web_of(run: Path, address: str | None = None) -> Web | None:
    """The web with the pages of a run, or the one given; None if nothing was kept."""
    if address is None and any(part.stat().st_size for part in parts_of(run)):
        return WarcArchive(run)
    address = address or _address(run)
    if not address:
        return None
    try:
        return open_web(address)
    except ArchiveError as error:
        raise ArchiveError(f"{error.message} (if the web has moved, give it with --web)") from None


def _address(run: Path) -> str:
    """What opens the web of a run; empty for the Web itself."""
    with Journal.open(run / JOURNAL) as journal:
        return journal.meta.web
