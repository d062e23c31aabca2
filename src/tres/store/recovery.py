"""Journal and WARC files after an accident: how far do both of them reach?

A page is in the WARC files before it is in the journal, and both are synced every second or so.
So a *kill* leaves at most one exchange that the journal does not know; it is cut off. A *power
cut* may take the last seconds from either. Pages in the journal that the WARC files have lost are
fetched again: the journal is rewound to the record before the first of them, and the requests
without an outcome there are repeated. Only other accidents can lose what was synced long ago. A
few pages at the end (of a file that was not copied whole) are fetched again too; more than that
looks like files of another run, and nothing is changed.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Protocol

from tres.errors import RunError, printable
from tres.numbers import format_count
from tres.store.high_water_mark import mark_path
from tres.store.journal import Journal

MOST = 100
"""How many pages that were synced, and are gone, are fetched again without asking."""
OF_ONE_EXCHANGE = 3
"""Records that a kill can leave behind the last page: warcinfo, request and response."""


class RewoundWarning(UserWarning):
    """Some pages were lost in an accident and are fetched again."""


class ArchivedPages(Protocol):
    """The WARC files of a run, as an accident has left them."""

    def is_whole(self, start: int, end: int) -> bool:
        """Whether the exchange between two offsets is still there, byte for byte."""

    def surplus(self, end: int) -> int:
        """How many whole records are behind an offset."""


def first_lost(journal: Journal, kept: ArchivedPages) -> int | None:
    """The record of the first page whose exchange the files have lost at their end, if any."""
    safe = 0 if journal.required is None else journal.required.synced.warc_end
    lost, missed = None, 0
    for record, (start, end) in reversed(journal.exchanges().items()):
        if kept.is_whole(start, end):
            if end <= safe:
                break
        else:
            lost, missed = record, missed + (end <= safe)
            if missed > MOST or (start == 0 and safe):
                raise _others(journal)
    return lost


def refuse_foreign(journal: Journal, kept: ArchivedPages) -> None:
    """Refuse WARC files with pages that no accident can have kept from the journal."""
    required = journal.required
    if required is None or not required.is_exact:
        return  # a power cut may take seconds from the journal that the files still have
    if kept.surplus(journal.warc_end()) > OF_ONE_EXCHANGE:
        raise _others(journal)


def rewind(journal: Journal, first: int) -> None:
    """Delete a record of a journal and all behind it, with a warning."""
    run, before = journal.path.parent, journal.steps()
    journal.rewind(first)
    again = format_count(before - journal.steps(), "page")
    text = f"{run}: its WARC files have lost their end; {again} will be fetched again"
    warnings.warn(printable(text), RewoundWarning, stacklevel=2)


def _others(journal: Journal) -> RunError:
    run: Path = journal.path.parent
    return RunError(
        f"{run}: its WARC files are not those of its journal, so nothing was changed; "
        f"put them back as they were, or remove {mark_path(journal.path)} to go on from the last "
        "page that both have"
    )
