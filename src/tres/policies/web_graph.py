"""The links of a whole web, backwards: what a policy may know that knows all pages beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tres.mdp.columns import Flags, Ids
from tres.web.percept import Percept


@dataclass(frozen=True, slots=True)
class WebGraph:
    """All pages of a web: which are relevant, and which pages link to them.

    The pages that link to page i are citing[starts[i]:starts[i + 1]].
    """

    index: dict[str, int]
    sites: dict[str, list[int]]
    relevant: Flags
    starts: NDArray[np.int64]
    citing: Ids

    @classmethod
    def of(cls, percepts: Iterable[Percept]) -> WebGraph:
        """Build the graph of a whole web."""
        pages = list(percepts)
        index = {page.url: i for i, page in enumerate(pages)}
        sites: dict[str, list[int]] = {}
        for i, page in enumerate(pages):
            sites.setdefault(page.site, []).append(i)
        edges = [
            (index[u], i) for i, page in enumerate(pages) for u in page.links.urls if u in index
        ]
        pairs = np.array(edges, np.int32).reshape(-1, 2)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        counts = np.bincount(pairs[:, 0], minlength=len(pages))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        relevant = np.array([page.relevant for page in pages], np.bool_)
        return cls(index, sites, relevant, starts, pairs[:, 1].copy())

    def judged(self, truth: Callable[[str], bool]) -> WebGraph:
        """Return the same web with relevance as another judge sees it."""
        relevant = np.zeros_like(self.relevant)
        relevant[[i for url, i in self.index.items() if truth(url)]] = True
        return replace(self, relevant=relevant)

    def citing_pages(self, pages: Ids) -> Ids:
        """Return all pages that link to one of these."""
        counts = self.starts[pages + 1] - self.starts[pages]
        first = np.repeat(self.starts[pages] - (np.cumsum(counts) - counts), counts)
        return np.unique(self.citing[first + np.arange(len(first))])
