"""An exploration with the interface of a crawl session, for engines to drive.

The explorer (`tres.engines.exploration.explore`) chooses a URL only when it has seen the outcome of
the last one, so there is one fetch in flight at a time. If its site must wait, the exploration
waits: another choice would be another sample.

An exploration that was stopped continues if it is given its earlier answers: it asks for the same
URLs again, and they are answered without a fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason, Wait
from tres.engines.exploration.explore import ExploredPages, Explorer
from tres.engines.protocols import Fetched
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.url import SiteBy, site_of

_CLOSED = FailureKind.DROPPED


class ExplorationSession:
    """Asks for the URLs of an explorer; `pages` holds the samples when it is done.

    It has no steps and no events. `on_fetch` receives the number of pages after each fetch,
    `answers` are those of an earlier start, in order, and `log` receives the new ones.
    """

    def __init__(
        self,
        explorer: Explorer,
        site_by: SiteBy = "host",
        on_fetch: Callable[[int], None] = lambda pages: None,
        answers: Iterable[tuple[str, Outcome]] = (),
        log: Callable[[str, Outcome], None] = lambda url, outcome: None,
    ) -> None:
        self.pages: ExploredPages | None = None
        self._explorer = explorer
        self._site_by = site_by
        self._on_fetch = on_fetch
        self._log = log
        self._fetched = 0
        self._wanted: str | None = None
        self._in_flight: str | None = None
        self.interrupted = False
        self._advance(None)
        for url, outcome in answers:
            if url == self._wanted:
                self._take(outcome)

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Return the URL that the explorer asks for, once its site is ready."""
        if self._in_flight is not None:
            return Wait()
        if self.interrupted:
            return Done(StopReason.INTERRUPTED)
        if self._wanted is None:
            return Done(StopReason.BUDGET)
        if k < 1 or site_of(self._wanted, self._site_by) in set(waiting):
            return Wait()
        self._in_flight = self._wanted
        return Fetch((self._in_flight,))

    def receive(self, url: str, outcome: Outcome, fetched: Fetched | None = None) -> list[Event]:
        """Take the outcome of the URL that `next` asked for; any other URL is a KeyError."""
        if url != self._in_flight:
            raise KeyError(url)
        self._in_flight = None
        if isinstance(outcome, Failed) and outcome.retryable and outcome.kind is _CLOSED:
            return []  # asked for again when the exploration continues
        self._log(url, outcome)
        self._take(outcome)
        return []

    def skip_site(self) -> None:
        """Go on without the wanted URL, whose site must rest for too long."""
        assert self._wanted is not None  # otherwise the exploration is over
        failed = Failed(self._wanted, FailureKind.SITE_DOWN)
        self._log(self._wanted, failed)
        self._take(failed)

    def interrupt(self) -> None:
        """Ask for nothing more; there are no samples unless it was done already."""
        self.interrupted = True

    def _take(self, outcome: Outcome) -> None:
        self._fetched += isinstance(outcome, Page)
        self._advance(outcome)
        self._on_fetch(self._fetched)

    def _advance(self, outcome: Outcome | None) -> None:
        try:
            explorer = self._explorer
            self._wanted = next(explorer) if outcome is None else explorer.send(outcome)
        except StopIteration as end:
            self._wanted, self.pages = None, end.value
