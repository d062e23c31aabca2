"""A web whose judge changes in the course of a crawl.

From the step at which a segment begins, pages are perceived through its model and its budget
counts. What was perceived before stays as it was: links that wait in the frontier keep the
anchor relevance that the earlier model gave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.web.page import Failed
from tres.web.percept import Percept


@dataclass(frozen=True, slots=True)
class Phase:
    """From this step on the web is seen so, and so many pages may be fetched in all."""

    from_step: int
    pages: int
    seen: PerceivedWeb


class Timeline:
    """Perceives for one session, phase by phase."""

    def __init__(self, session: CrawlSession, phases: Sequence[Phase]) -> None:
        self._session = session
        self._phases = phases
        self.keep_up()

    @property
    def phase(self) -> Phase:
        """The phase of the step that comes next."""
        step = self._session.steps + 1
        return [phase for phase in self._phases if phase.from_step <= step][-1]

    def perceive(self, url: str) -> Percept | Failed:
        """The percept of a page as the phase of this step sees it."""
        return self.phase.seen.perceive(url)

    def keep_up(self) -> None:
        """Let the budget of the phase count; to be called after every event."""
        self._session.pages = self.phase.pages
