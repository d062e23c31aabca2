"""Best-first baselines: one fixed priority, no learning.

- `parent`: the relevance of the page a link was found on (the best of them, if several);
- `anchor`: the relevance of the link's own anchor and URL words;
- `breadth-first`: first found, first fetched.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tres.frontier.queue_frontier import QueueFrontier
from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.transitions import Outlinks, Step
from tres.policies.policy import FrontierPolicy, Pick

Score = Callable[[Outlinks], Floats]


def by_parent(links: Outlinks) -> Floats:
    """How relevant the citing page is."""
    return np.full(len(links.urls), links.relevance, np.float32)


def by_anchor(links: Outlinks) -> Floats:
    """How relevant the anchor is."""
    return links.anchor_relevance


class BestFirst(FrontierPolicy):
    """The URL with the highest score any citing page gave it."""

    def __init__(self, rows: Rows, score: Score) -> None:
        self._score = score
        self._best = Column(np.float32, fill=-np.inf)
        self._queue = QueueFrontier(rows, self._priority)
        super().__init__(rows, self._queue)

    def learn(self, step: Step) -> None:
        """Links bring their score with them."""
        links = step.outlinks
        self._best.resize(int(links.urls.max(initial=-1)) + 1)
        self._best.view[links.urls] = np.maximum(self._best.view[links.urls], self._score(links))
        super().learn(step)

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The head of the queue."""
        best = self._queue.best(waiting)
        return None if best is None else Pick(best[0], q=best[1])

    def worth(self, rows: Ids) -> Floats:
        """Their scores."""
        return self._priority(rows)

    def _priority(self, rows: Ids) -> Floats:
        urls = self.rows.url_ids(rows)
        return np.asarray(self._best.view[urls])


class BreadthFirst(FrontierPolicy):
    """Pages in the order in which they were found."""

    def __init__(self, rows: Rows) -> None:
        self._queue = QueueFrontier(rows, lambda found: -found.astype(np.float32))
        super().__init__(rows, self._queue)

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The oldest row."""
        best = self._queue.best(waiting)
        return None if best is None else Pick(best[0])
