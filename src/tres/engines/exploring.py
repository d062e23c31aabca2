"""An exploration as a crawl: something that asks an engine for URLs and takes pages.

The exploration (`tres.engines.explore`) decides where to go next only when it has seen what
came of the last URL, so there is one fetch in flight at a time. Where its site must wait, the
exploration waits: another choice would be another sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason, Wait
from tres.engines.base import Fetched
from tres.engines.explore import Asking, Exploration
from tres.engines.reading import HTML, Received, charset_of
from tres.sections import LiveSection
from tres.web.page import Failed, FailureKind, Outcome, Page
from tres.web.parse import parse_document
from tres.web.rules import LinkRules
from tres.web.url import SiteBy, canonical, site_of


class Exploring:
    """Asks as an exploration does; `found` holds its samples when it is done.

    An exploration is no crawl: it has no steps and no events. `watch` is told after each
    fetch how many pages there are.
    """

    def __init__(
        self,
        asking: Asking,
        site_by: SiteBy = "host",
        watch: Callable[[int], None] = lambda pages: None,
    ) -> None:
        self.found: Exploration | None = None
        self._asking = asking
        self._site_by = site_by
        self._watch = watch
        self._pages = 0
        self._wanted: str | None = None
        self._flying: str | None = None
        self._interrupted = False
        self._advance(None)

    @property
    def in_flight(self) -> int:
        """Fetches that have not come back yet."""
        return int(self._flying is not None)

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
        self._pages += isinstance(outcome, Page)
        self._advance(outcome)
        self._watch(self._pages)
        return []

    def interrupt(self) -> None:
        """Ask for nothing more; there will be no samples."""
        self._interrupted = True

    def _advance(self, outcome: Outcome | None) -> None:
        try:
            self._wanted = next(self._asking) if outcome is None else self._asking.send(outcome)
        except StopIteration as end:
            self._wanted, self.found = None, end.value


@dataclass(frozen=True, slots=True)
class Parsed:
    """A page that was read without being judged."""

    outcome: Outcome
    title: str = ""
    fingerprint: int | None = None
    note: str = ""
    refresh: str | None = None


class Parser:
    """Reads pages for an exploration: text and links, and no verdict, as there is no model yet.

    It reads in this process: an exploration is short, and what `parse_document` does is bounded.
    """

    def __init__(self, settings: LiveSection, year: int) -> None:
        self._rules = LinkRules(settings, year)

    async def read(self, received: Received) -> Parsed:
        """The page of a response, with the links that may be followed."""
        url = canonical(received.url)
        identity = self._rules.identity(url) if url else None
        if not identity:
            return Parsed(Failed(received.url, FailureKind.BLOCKED_URL))
        if received.content_type.partition(";")[0].strip().lower() not in HTML:
            return Parsed(Failed(identity, FailureKind.NOT_HTML))
        read = parse_document(identity, received.body, charset_of(received.content_type))
        if isinstance(read, Failed):
            return Parsed(read)
        followed = tuple(self._rules.followed(read.page.links))
        return Parsed(replace(read.page, links=followed), refresh=read.head.refresh)
