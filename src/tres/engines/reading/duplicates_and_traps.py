"""Near-duplicates and endless spaces: the checks that depend on the pages read before.

A near-duplicate is a failure, so it is not a step and earns nothing. Links into an endless space
are dropped. A reading is checked before the session sees it, and remembered once the session has
counted it as a step. So the memory is a fold over the recorded steps, and a resumed crawl rebuilds
it by remembering them in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tres.engines.reading.page_reader import Reading
from tres.settings.sections import LiveSection
from tres.web.near_duplicates import NearDuplicates
from tres.web.page import Failed, FailureKind, Page
from tres.web.percept import Percept
from tres.web.traps import EndlessSpaces


class DuplicatesAndTraps:
    """Finds near-duplicates and endless spaces in one crawl, if its settings ask for it."""

    def __init__(self, settings: LiveSection) -> None:
        self.duplicates = NearDuplicates() if settings.near_duplicates else None
        self.spaces = EndlessSpaces() if settings.traps else None
        self._dropped: Counter[str] = Counter()

    @property
    def dropped(self) -> Counter[str]:
        """How many links were dropped, by rule."""
        return self._dropped + (Counter() if self.spaces is None else self.spaces.dropped)

    def check(self, reading: Reading) -> Percept | Page | Failed:
        """The outcome of a reading, after the checks: a near-duplicate is a failure."""
        outcome = reading.outcome
        self._dropped.update(reading.dropped)
        if not isinstance(outcome, Percept):
            return outcome
        if (
            self.duplicates is not None
            and reading.fingerprint is not None
            and self.duplicates.seen(reading.fingerprint)
        ):
            return Failed(outcome.url, FailureKind.NEAR_DUPLICATE)
        return outcome if self.spaces is None else self.spaces.without_full_spaces(outcome)

    def remember(self, links: Iterable[str], fingerprint: int | None) -> None:
        """Remember a page that was a step of the crawl, by its links and its fingerprint."""
        if self.duplicates is not None and fingerprint is not None:
            self.duplicates.add(fingerprint)
        if self.spaces is not None:
            self.spaces.remember(links)
