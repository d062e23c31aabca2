"""The pages of a run, read again: their texts and links are not in the journal's tables.

A live crawl keeps them as WARC files in the run directory, unless `live.keep` says otherwise. A
crawl over an archive keeps the address of the archive.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tres.errors import ArchiveError, RunError, printable
from tres.offline import WarcArchive, Web, open_web
from tres.offline.archive import ArchiveWarning
from tres.offline.warc import page_within
from tres.store.journal import JOURNAL, Journal
from tres.store.run_directory import command_to_resume
from tres.store.warc_writer import WarcStore, parts_of
from tres.web.page import Outcome, Page


def web_of(run: Path, address: str | None = None) -> Web | None:
    """Return the web with the pages of a run, or that at `address`; None if no pages were kept."""
    if address is None and any(part.stat().st_size for part in parts_of(run)):
        _warn_of_lost_end(run)
        return WarcArchive(run)
    address = address or _address(run)
    return _open(address) if address else None


def _open(address: str) -> Web:
    try:
        return open_web(address)
    except ArchiveError as error:
        raise ArchiveError(f"{error.message} (if the web has moved, give it with --web)") from None


def _warn_of_lost_end(run: Path) -> None:
    """Warn if the files have lost the last page in the journal: to `WarcArchive`, a damaged end
    looks like a record that is still being written.
    """
    with suppress(RunError), Journal.open(run / JOURNAL) as journal:
        last = max(journal.exchanges().values(), default=(0, 0))
        if not WarcStore(run, {}).is_whole(*last):
            text = f"{run}: its WARC files have lost their end; to fetch it again: "
            text += command_to_resume(run)
            warnings.warn(printable(text), ArchiveWarning, stacklevel=3)


def page_of(journal: Journal, record: int, url: str, address: str | None = None) -> Page | None:
    """Return one page of a run, by the record of its step; None if it was not kept.

    A page in the run's own WARC files is read at its offset, without a search.
    """
    span, kept_at = journal.exchange_of(record), address or journal.meta.web
    if span is not None and address is None:
        return _page(_exchanged(journal.path.parent, *span, url))
    return _page(open_web(kept_at).fetch(url)) if kept_at else None


def pages_of(
    run: Path, wanted: Iterable[tuple[int, str]], address: str | None = None
) -> Iterator[Page | None]:
    """Iterate over pages of a run, by their records and URLs, as `page_of` returns them."""
    with Journal.open(run / JOURNAL) as journal:
        spans = {} if address else journal.exchanges()
        kept_at = address or journal.meta.web
    web = _open(kept_at) if kept_at else None
    for record, url in wanted:
        if record in spans:
            yield _page(_exchanged(run, *spans[record], url))
        else:
            yield None if web is None else _page(web.fetch(url))


def _page(outcome: Outcome | None) -> Page | None:
    return outcome if isinstance(outcome, Page) else None


def _exchanged(run: Path, start: int, end: int, url: str) -> Outcome | None:
    """The page between two offsets of the run's WARC files."""
    for part in parts_of(run):
        size = part.stat().st_size
        if start < size:
            return page_within(part, start, end, url)
        start, end = start - size, end - size
    return None


def _address(run: Path) -> str:
    """The address of the web of a run; empty for the live Web."""
    with Journal.open(run / JOURNAL) as journal:
        return journal.meta.web
