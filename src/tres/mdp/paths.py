"""Closure and web paths: the forest g_t of fetched pages (section 2.2.1 of the paper).

Every fetched page has one parent, the page whose link led to it, or none if it is a
seed; so each has a unique web path, path(t), from a seed to itself. A link is described
by the path of the page it is on, and three numbers per page are enough for that:
the pages on its path, the relevant ones among them, and how many edges back the nearest
relevant one lies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tres.mdp.columns import Column

NONE = -1
"""The parent of a seed; also any other id that does not exist."""


class PathFeatures(NamedTuple):
    """The path features of a link on the last page of a path (features 1 to 3 of the schema)."""

    parent_reward: float
    inverse_distance: float
    path_relevance: float


class WebPaths:
    """The forest of fetched pages, by URL id."""

    def __init__(self) -> None:
        self._parent = Column(np.int32, fill=NONE)
        self._length = Column(np.int32)
        self._relevant = Column(np.int32)
        self._since_relevant = Column(np.int32)
        self._reward = Column(np.float32)
        self._fetched = Column(np.bool_)

    def __contains__(self, url: int) -> bool:
        """Whether the URL is in the closure."""
        return url < len(self._fetched) and bool(self._fetched.view[url])

    def extend(self, url: int, parent: int, reward: float, relevant: bool) -> None:
        """Add a page that was fetched through a link on `parent`: g_t becomes g_t+1."""
        self._make_room(url + 1)
        length, on_path, since = self._end_of(parent)
        self._parent.view[url] = parent
        self._length.view[url] = length + 1
        self._relevant.view[url] = on_path + relevant
        # 0: the page itself is relevant. A path without any relevant page keeps NONE.
        self._since_relevant.view[url] = 0 if relevant else (since + 1 if since != NONE else NONE)
        self._reward.view[url] = reward
        self._fetched.view[url] = True

    def features(self, url: int) -> PathFeatures:
        """Return the path features of a link on the fetched page `url`."""
        since = int(self._since_relevant.view[url])
        distance = since + 1  # from the link's target, one edge further than from its page
        return PathFeatures(
            parent_reward=float(self._reward.view[url]),
            inverse_distance=0.0 if since == NONE else 1.0 / distance,
            path_relevance=float(self._relevant.view[url] / self._length.view[url]),
        )

    def path(self, url: int) -> list[int]:
        """Return the web path of a fetched page, from its seed to itself."""
        path = [url]
        while (parent := int(self._parent.view[path[-1]])) != NONE:
            path.append(parent)
        return path[::-1]

    def parent(self, url: int) -> int:
        """Return the page whose link led to a fetched page, `NONE` for a seed."""
        return int(self._parent.view[url])

    def depth(self, url: int) -> int:
        """Return the number of edges from the seed to a fetched page."""
        return int(self._length.view[url]) - 1

    def _end_of(self, parent: int) -> tuple[int, int, int]:
        if parent == NONE:
            return 0, 0, NONE
        return (
            int(self._length.view[parent]),
            int(self._relevant.view[parent]),
            int(self._since_relevant.view[parent]),
        )

    def _make_room(self, urls: int) -> None:
        for column in vars(self).values():
            column.resize(urls)
