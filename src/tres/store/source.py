"""Where the pages of a run can be read again: their texts and links are not in its tables.

A live crawl has kept them itself, as WARC files in the directory of the run, unless it was
told not to. A crawl over an archive has kept the address of the archive.
"""

from __future__ import annotations

from pathlib import Path

from tres.errors import ArchiveError
from tres.store.journal import JOURNAL, Journal
from tres.store.warc import parts_of
from tres.web.page import Outcome, Page
from tres.webs import WarcArchive, Web, open_web
from tres.webs.warc import page_within


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


def page_of(run: Path, record: int, url: str, address: str | None = None) -> Page | None:
    """One page of a run, by the record of its step; None if it was not kept.

    What the run has kept itself is read where it stands, without a look at the rest.
    """
    with Journal.open(run / JOURNAL) as journal:
        span, kept_at = journal.exchange_of(record), address or journal.meta.web
    if span is not None and address is None:
        outcome = _exchanged(run, *span, url)
    else:
        outcome = open_web(kept_at).fetch(url) if kept_at else None
    return outcome if isinstance(outcome, Page) else None


def _exchanged(run: Path, start: int, end: int, url: str) -> Outcome | None:
    """The page that stands between two offsets of the run's WARC files."""
    for part in parts_of(run):
        size = part.stat().st_size
        if start < size:
            return page_within(part, start, end, url)
        start, end = start - size, end - size
    return None


def _address(run: Path) -> str:
    """What opens the web of a run; empty for the Web itself."""
    with Journal.open(run / JOURNAL) as journal:
        return journal.meta.web
