"""An exploration as a crawl: something that asks an engine for URLs and takes pages.

The exploration (`tres.engines.exploration.explore`) decides where to go next only when it has seen
what came of the last URL, so there is one fetch in flight at a time. Where its site must wait, the
exploration waits: another choice would be another sample.

An exploration that was stopped goes on if it is given the answers that it had: it asks for the
same URLs again, and they are answered without being fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason, Wait
from tres.engines.exploration.explore import Asking, Exploration
from tres.engines.protocols import Fetched
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.url import SiteBy, site_of

_CLOSED = FailureKind.DROPPED


class Exploring:
    """Asks as an exploration does; `found` holds its samples when it is done.

    An exploration is no crawl: it has no steps and no events. `watch` is told after each
    fetch how many pages there are. `known` are the answers of an earlier start, in order, and
    `keep` is told the new ones.
    """

    def __init__(
        self,
        asking: Asking,
        site_by: SiteBy = "host",
        watch: Callable[[int], None] = lambda pages: None,
        known: Iterable[tuple[str, Outcome]] = (),
        keep: Callable[[str, Outcome], None] = lambda url, outcome: None,
    ) -> None:
        self.found: Exploration | None = None
        self._asking = asking
        self._site_by = site_by
        self._watch = watch
        self._keep = keep
        self._pages = 0
        self._wanted: str | None = None
        self._flying: str | None = None
        self._interrupted = False
        self._advance(None)
        for url, outcome in known:
            if url == self._wanted:
                self._take(outcome)

    @property
    def interrupted(self) -> bool:
        """Has it been told to ask for nothing more?"""
        return self._interrupted

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """The URL that the exploration asks for, once its site is ready."""
        if self._flying is not None:
            return Wait()
        if self._interrupted:
            return Done(StopReason.INTERRUPTED)
        if self._wanted is None:
            return Done(StopReason.BUDGET)
        if k < 1 or site_of(self._wanted, self._site_by) in set(waiting):
            return Wait()
        self._flying = self._wanted
        return Fetch((self._flying,))

    def receive(self, url: str, outcome: Outcome, fetched: Fetched | None = None) -> list[Event]:
        """What came of the URL that `next` had asked for; any other URL is a KeyError."""
        if url != self._flying:
            raise KeyError(url)
        self._flying = None
        if isinstance(outcome, Failed) and outcome.retryable and outcome.kind is _CLOSED:
            return []  # asked for again by whoever goes on
        self._keep(url, outcome)
        self._take(outcome)
        return []

    def _take(self, outcome: Outcome) -> None:
        self._pages += isinstance(outcome, Page)
        self._advance(outcome)
        self._watch(self._pages)

    def pass_over(self) -> None:
        """The site of the URL that is asked for must rest for too long: go on without it."""
        assert self._wanted is not None  # otherwise the exploration is over
        failed = Failed(self._wanted, FailureKind.SITE_DOWN)
        self._keep(self._wanted, failed)
        self._take(failed)

    def interrupt(self) -> None:
        """Ask for nothing more; there will be no samples, unless it is done already."""
        self._interrupted = True

    def _advance(self, outcome: Outcome | None) -> None:
        try:
            self._wanted = next(self._asking) if outcome is None else self._asking.send(outcome)
        except StopIteration as end:
            self._wanted, self.found = None, end.value
