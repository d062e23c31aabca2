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
from tres.policies.policy import FrontierPolicy, PolicyInfo, Selection
from tres.policies.setup import PolicySetup


class QueuePolicy(FrontierPolicy):
    """Selects the row of highest priority."""

    def __init__(self, rows: Rows) -> None:
        self._queue = QueueFrontier(rows, self._priority)
        super().__init__(rows, self._queue)

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        return cls(setup.rows())

    @abstractmethod
    def _priority(self, rows: Ids) -> Floats:
        """Return the priority of rows; higher is sooner."""

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the head of the queue."""
        best = self._queue.best(waiting)
        return None if best is None else Selection(*best)


class BestFirst(QueuePolicy):
    """Selects the URL with the highest score; a URL has the best score of all links to it."""

    def __init__(self, rows: Rows) -> None:
        self._best = Column(np.float32, fill=-np.inf)
        super().__init__(rows)

    @abstractmethod
    def score(self, links: Outlinks) -> Floats:
        """Return a score for each link of a page."""

    def learn(self, step: Step) -> None:
        """Score the links of a page; a URL keeps its best score."""
        links = step.outlinks
        self._best.resize(int(links.urls.max(initial=-1)) + 1)
        self._best.view[links.urls] = np.maximum(self._best.view[links.urls], self.score(links))
        super().learn(step)

    def values_of(self, rows: Ids) -> Floats:
        """Return the scores of rows."""
        return self._priority(rows)

    def _priority(self, rows: Ids) -> Floats:
        return np.asarray(self._best.view[self.rows.url_ids(rows)])


class ParentFirst(BestFirst):
    """Scores a link by the relevance of the page it is on."""

    info = PolicyInfo(
        summary="the link on the most relevant page",
        reads_features=False,
        score_meaning="the relevance of the best page that links to it",
    )

    def score(self, links: Outlinks) -> Floats:
        return np.full(len(links.urls), links.relevance, np.float32)


class AnchorFirst(BestFirst):
    """Scores a link by the relevance of its own words."""

    info = PolicyInfo(
        summary="the link whose text and URL look most relevant",
        reads_features=False,
        score_meaning="the relevance of its link text",
    )

    def score(self, links: Outlinks) -> Floats:
        return links.anchor_relevance


class BreadthFirst(QueuePolicy):
    """Selects links in the order in which they were found."""

    info = PolicyInfo(summary="the link that was found first", reads_features=False)

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the oldest row; its priority is not a score."""
        oldest = super().select(waiting)
        return None if oldest is None else Selection(oldest.row)

    def _priority(self, rows: Ids) -> Floats:
        return -rows.astype(np.float32)
