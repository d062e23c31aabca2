"""Best-first baselines: a fixed priority, no learning.

- `parent`: the relevance of the page a link was found on (the best of them, if several);
- `anchor`: the relevance of the link's own anchor and URL words;
- `breadth-first`: first found, first fetched.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.transitions import Outlinks, Step
from tres.policies.policy import FrontierPolicy, Selection
from tres.policies.policy_info import PolicyInfo
from tres.policies.setup import PolicySetup


class BestFirst(FrontierPolicy):
    """The URL with the highest score that any page linking to it gave it."""

    def __init__(self, rows: Rows) -> None:
        self._best = Column(np.float32, fill=-np.inf)
        self._queue = QueueFrontier(rows, self._priority)
        super().__init__(rows, self._queue)

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        return cls(setup.rows())

    @abstractmethod
    def score(self, links: Outlinks) -> Floats:
        """Return a score for each link of a page."""

    def learn(self, step: Step) -> None:
        """Score the links of a page; a URL keeps its best score."""
        links = step.outlinks
        self._best.resize(int(links.urls.max(initial=-1)) + 1)
        self._best.view[links.urls] = np.maximum(self._best.view[links.urls], self.score(links))
        super().learn(step)

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the head of the queue."""
        best = self._queue.best(waiting)
        return None if best is None else Selection(best[0], q=best[1])

    def values_of(self, rows: Ids) -> Floats:
        """Return their scores."""
        return self._priority(rows)

    def _priority(self, rows: Ids) -> Floats:
        urls = self.rows.url_ids(rows)
        return np.asarray(self._best.view[urls])


class ParentFirst(BestFirst):
    """Scored by the relevance of the page a link is on."""

    info = PolicyInfo(
        summary="the link on the most relevant page",
        reads_features=False,
        score_meaning="the relevance of the best page that links to it",
    )

    def score(self, links: Outlinks) -> Floats:
        """Return the relevance of the page, for each of its links."""
        return np.full(len(links.urls), links.relevance, np.float32)


class AnchorFirst(BestFirst):
    """Scored by the relevance of a link's own words."""

    info = PolicyInfo(
        summary="the link whose text and URL look most relevant",
        reads_features=False,
        score_meaning="the relevance of its link text",
    )

    def score(self, links: Outlinks) -> Floats:
        """Return the relevance of the anchors."""
        return links.anchor_relevance


class BreadthFirst(FrontierPolicy):
    """Pages in the order in which they were found."""

    info = PolicyInfo(summary="the link that was found first", reads_features=False)

    def __init__(self, rows: Rows) -> None:
        self._queue = QueueFrontier(rows, lambda found: -found.astype(np.float32))
        super().__init__(rows, self._queue)

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        """Return a fresh policy over an empty frontier."""
        return cls(setup.rows())

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the oldest row."""
        best = self._queue.best(waiting)
        return None if best is None else Selection(best[0])
