"""Journal and WARC files after an accident: how far do both of them reach?

A page is in the WARC files before it is in the journal, and both are synced every second or so.
So a *kill* leaves at most one exchange that the journal does not know; it is cut off. A *power
cut* may take the last seconds from either. Pages that the journal knows and the WARC files have
lost are fetched again: the journal is taken back to the record before the first of them, and what
was asked for then is owed. What was synced long ago can be lost by other accidents only. A few
pages at the end (a file that was copied short) are fetched again too; more than that looks like
files that belong elsewhere, and nothing is touched.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Protocol

from tres.errors import RunError, printable
from tres.store.high_water_mark import mark_path
from tres.store.journal import Journal

MOST = 100
"""Pages that were safe on disk, are gone, and are fetched again without asking."""
OF_ONE_EXCHANGE = 3
"""Records that a kill can leave behind the last page of the journal: about the file, request and
response."""


class RewoundWarning(UserWarning):
    """Some pages were lost in an accident and are fetched again."""


class Kept(Protocol):
    """Raw pages, as they were left."""

    def is_whole(self, start: int, end: int) -> bool:
        """Is an exchange still there, byte for byte?"""

    def surplus(self, end: int) -> int:
        """How many whole records stand behind an end."""


def first_lost(journal: Journal, kept: Kept) -> int | None:
    """The record of the first page whose exchange is lost at the end of the files, if any is."""
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


def refuse_foreign(journal: Journal, kept: Kept) -> None:
    """`RunError` if the WARC files hold pages that no accident can have kept from the journal."""
    required = journal.required
    if required is None or not required.is_exact:
        return  # a power cut may take seconds from the journal that the files still have
    if kept.surplus(journal.warc_end()) > OF_ONE_EXCHANGE:
        raise _others(journal)


def rewind(journal: Journal, first: int) -> None:
    """Take a journal back to the record before one, and say so."""
    run, before = journal.path.parent, journal.steps()
    journal.rewind(first)
    lost = before - journal.steps()
    text = f"{run}: its WARC files have lost their end; pages that are fetched again: {lost:,}"
    warnings.warn(printable(text), RewoundWarning, stacklevel=2)


def _others(journal: Journal) -> RunError:
    run: Path = journal.path.parent
    return RunError(
        f"{run}: its WARC files are not those that its journal tells of, so nothing was changed; "
        f"put them back as they were, or remove {mark_path(journal.path)} to go on from the last "
        "page that both have"
    )
